"""Looking at the sources of those who cannot receive webhooks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from rag.answer_log import AnswerLog, reason_of
from rag.errors import FootnoteError
from rag.types import Repository
from scheduler.protocols import JobResult
from scheduler.pushes import Pushes

logger = logging.getLogger(__name__)
Newest = Callable[[Repository], Awaitable[str]]
"""The commit that the source has now, full hexadecimal id, without fetching anything; raises FootnoteError."""


class Polling:
    """Asks a source for its newest commit and has the repository built where that is new.

    `every`: seconds between two looks, by the name of the repository. `at_once`: sources that are asked at the same time.
    """

    def __init__(
        self,
        repositories: Callable[[], Sequence[Repository]],
        every: Mapping[str, float],
        newest: Newest,
        log: AnswerLog,
        pushes: Pushes,
        *,
        at_once: int = 4,
    ) -> None:
        self.every = dict(every)
        self._repositories = repositories
        self._newest = newest
        self._log = log
        self._pushes = pushes
        self._slots = asyncio.Semaphore(at_once)
        self._tried: dict[str, str] = {}
        self._reasons: dict[str, str] = {}

    async def look(self, name: str) -> JobResult | None:
        """One look. None where there is nothing to tell: a log with a line a minute would hide what matters.

        A commit whose build fails is tried once here; the nightly job tries again.
        """
        repository = next((one for one in self._repositories() if one.name == name), None)
        if repository is None or self._pushes.pending(name):
            return None
        try:
            async with self._slots:
                commit = await self._newest(repository)
        except FootnoteError as error:
            return self._told(name, JobResult(reason_of(error)))
        last = await self._log.last_build(name, good=True)
        if commit == self._tried.get(name) or (last is not None and last.commit == commit):
            return self._told(name, JobResult())
        self._tried[name] = commit
        self._reasons.pop(name, None)
        logger.info("%s has something new", name)
        self._pushes.pushed(repository, "poll")
        return JobResult(detail={"changed": 1.0})

    def _told(self, name: str, result: JobResult) -> JobResult | None:
        """The result where it differs from that of the look before."""
        if self._reasons.get(name) == result.reason:
            return None
        self._reasons[name] = result.reason
        return result
