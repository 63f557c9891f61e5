"""Deleting what the log has kept long enough."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from rag.answer_log import AnswerLog, utc_now
from scheduler.protocols import JobResult


class Retention:
    def __init__(self, log: AnswerLog, days: float, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._log = log
        self._days = days
        self._clock = clock

    async def run(self) -> JobResult:
        purged = await self._log.purge(self._clock() - timedelta(days=self._days))
        return JobResult(detail={"answers": purged.answers, "chunks": purged.chunks, "builds": purged.builds, "runs": purged.runs})
