"""Rebuilding what should be fresh each morning."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from rag.answer_log import AnswerLog, BuildRecord, reason_of, utc_now
from rag.errors import BuildRunning
from rag.types import Repository
from scheduler.builds import Builds
from scheduler.protocols import JobResult

logger = logging.getLogger(__name__)


async def _always(repository: Repository) -> bool:
    return True


class Nightly:
    """Builds every repository, or those whose index is too old. One that fails does not stop the others.

    `fits`: whether a repository's index is of what is configured now.
    """

    def __init__(
        self,
        repositories: Callable[[], Sequence[Repository]],
        builds: Builds,
        log: AnswerLog,
        *,
        stale_hours: float = 26.0,
        fits: Callable[[Repository], Awaitable[bool]] = _always,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._repositories = repositories
        self._builds = builds
        self._log = log
        self._stale = timedelta(hours=stale_hours)
        self._fits = fits
        self._clock = clock

    async def run(self) -> JobResult:
        """Rebuilds all repositories."""
        return await self._all(self._repositories(), "nightly")

    async def catch_up(self) -> JobResult:
        """Rebuilds the repositories whose last good build is missing or too old (the night was slept through, or the build failed), or
        whose index is of another model or of other settings than those that are configured now."""
        return await self._all([repository for repository in self._repositories() if await self._is_stale(repository)], "catch-up")

    async def _is_stale(self, repository: Repository) -> bool:
        last = await self._log.last_build(repository.name, good=True)
        # A build from the future was written under a wrong clock and says nothing.
        if last is None or not timedelta(0) <= self._clock() - last.finished_at <= self._stale:
            return True
        try:
            fits = await self._fits(repository)
        except Exception:
            # A build says better what is wrong with it.
            logger.exception("the index of %s could not be looked at", repository.name)
            return True
        if not fits:
            logger.info("%s is rebuilt: its index is not of what is configured now", repository.name)
        return not fits

    async def _all(self, repositories: Sequence[Repository], cause: str) -> JobResult:
        ends = await asyncio.gather(*(self._builds.build(repository, cause) for repository in repositories), return_exceptions=True)
        detail = {"repositories": 0, "built": 0, "unchanged": 0, "busy": 0, "failed": 0, "stopped": 0}
        reasons = []
        for repository, end in zip(repositories, ends, strict=True):
            detail["repositories"] += 1
            if isinstance(end, BuildRecord) and end.ok:
                detail["unchanged" if end.unchanged else "built"] += 1
            elif isinstance(end, BuildRunning):
                detail["busy"] += 1
            elif isinstance(end, asyncio.CancelledError):
                detail["stopped"] += 1
                reasons.append(f"{repository.name}: stopped with Footnote")
            else:
                detail["failed"] += 1
                reasons.append(f"{repository.name}: {end.error if isinstance(end, BuildRecord) else reason_of(end)}")
        logger.info("%s builds ended: %s", cause, detail)
        return JobResult("; ".join(reasons), dict(detail))
