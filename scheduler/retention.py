"""Deleting what the log has kept long enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

from rag.answer_log import AnswerLog, utc_now
from scheduler.protocols import JobResult

Purge = Callable[[datetime], Awaitable[int]]


class Retention:
    """`also`: what else forgets what came before a moment, by the name under which the run counts it."""

    def __init__(self, log: AnswerLog, days: float, also: Mapping[str, Purge] = {}, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._log = log
        self._days = days
        self._also = dict(also)
        self._clock = clock

    async def run(self) -> JobResult:
        before = self._clock() - timedelta(days=self._days)
        others = {name: float(await purge(before)) for name, purge in self._also.items()}
        purged = await self._log.purge(before)  # last: it empties the write-ahead log, of the others' rows too
        counts = {"answers": purged.answers, "chunks": purged.chunks, "builds": purged.builds, "runs": purged.runs}
        return JobResult(detail={**counts, **others})
