"""Cron expressions mean what cron means, and the host's time zone means nothing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from rag.errors import ConfigurationError
from scheduler.cron import trigger


def _fires(expression: str, start: datetime, count: int) -> list[datetime]:
    cron, previous, now, found = trigger(expression, "schedule.x"), None, start, []
    for _ in range(count):
        previous = cron.get_next_fire_time(previous, now)
        now = previous
        found.append(previous)
    return found


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("expression", ["0 0 * * *", "30 1 * * *", "30 2 * * *", "0 6 * * *"])
@pytest.mark.parametrize("start", [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 10, 15, tzinfo=UTC)])
def test_every_day_once_whatever_the_hosts_clock_does(host_zone: str, expression: str, start: datetime) -> None:
    fires = _fires(expression, start, 40)
    assert all(later - earlier == timedelta(days=1) for earlier, later in itertools.pairwise(fires))
    assert all(fire.utcoffset() == timedelta(0) for fire in fires)


@pytest.mark.parametrize(
    ("weekday", "days"),
    [
        ("0", {"Sun"}),
        ("7", {"Sun"}),
        ("1-5", {"Mon", "Tue", "Wed", "Thu", "Fri"}),
        ("mon,6", {"Mon", "Sat"}),
        ("5-7", {"Fri", "Sat", "Sun"}),
        ("1-5/2", {"Mon", "Wed", "Fri"}),
        ("2/2", {"Tue", "Thu", "Sat"}),
        ("*", {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}),
    ],
)
def test_days_of_the_week_are_crons(weekday: str, days: set[str]) -> None:
    fires = _fires(f"0 2 * * {weekday}", datetime(2026, 3, 2, tzinfo=UTC), 14)
    assert {fire.strftime("%a") for fire in fires} == days


@pytest.mark.parametrize(
    "expression", ["", "0 2 * *", "0 2 * * * *", "61 2 * * *", "0 25 * * *", "0 2 * * 8", "0 2 * * 5-1", "daily at two x y"]
)
def test_what_is_no_cron_expression_names_the_setting(expression: str) -> None:
    with pytest.raises(ConfigurationError, match=r"schedule\.nightly = "):
        trigger(expression, "schedule.nightly")
