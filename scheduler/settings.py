"""When things happen, and how much."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """`nightly`, `judging`, `retention`: cron expressions, five fields, UTC; days of the week as in cron (0 and 7 are Sunday) or by name.

    `judge_share`: share of the answers that is judged, 0–1. `judge_days`: how far back it looks, so that a day on which the judge could
    not be reached is made up for. `judge_limit`: most answers judged in one run. `judge_alert_below`: an alert when the mean faithfulness
    of the last `judge_window` judgements falls below it. `retention_days`: how long the log keeps what was asked.
    `stale_hours`: at start, a repository whose last good build is older is rebuilt at once. `misfire_hours`: a job that could not start on
    time still runs within these. `nightly_jitter`: the nightly job starts up to so many seconds late, by chance, so that many machines do
    not ask one host at the same second. `parallel_builds`: builds at the same time. `build_timeout`: seconds a build may take.
    """

    nightly: str = "0 2 * * *"
    judging: str = "0 4 * * *"
    judge_share: float = 0.1
    judge_days: float = 7.0
    judge_limit: int = 200
    judge_window: int = 50
    judge_alert_below: float = 0.8
    retention: str = "30 4 * * *"
    retention_days: float = 90.0
    stale_hours: float = 26.0
    misfire_hours: float = 6.0
    nightly_jitter: int = 0
    parallel_builds: int = 1
    build_timeout: float = 6.5 * 3600
