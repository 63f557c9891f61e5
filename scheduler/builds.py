"""Builds of indexes: never two of one repository, each in the log, one alert when a repository's builds begin to fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from rag.answer_log import AnswerLog, BuildRecord, utc_now
from rag.errors import BuildFailed, BuildRunning, DatabaseError
from rag.types import Repository
from scheduler.announcing import tell
from scheduler.faults import SHARED, Faults
from scheduler.protocols import Announcer, Rebuild

logger = logging.getLogger(__name__)


class Builds:
    """Every build of this process goes through here, whatever caused it. `faults` None: people are told of every failure."""

    def __init__(
        self,
        rebuild: Rebuild,
        log: AnswerLog,
        announcer: Announcer,
        *,
        timeout: float = 6.5 * 3600,
        parallel: int = 1,
        faults: Faults | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._rebuild = rebuild
        self._log = log
        self._announcer = announcer
        self._timeout = timeout
        self._slots = asyncio.Semaphore(parallel)
        self._faults = faults
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[BuildRecord]] = {}
        self._at_work: set[str] = set()
        self._stopping = False

    def running(self) -> list[str]:
        """Names of the repositories that are being built, or wait for their turn."""
        return sorted(self._tasks)

    def waiting(self, name: str) -> bool:
        """Whether the repository's build waits for its turn: it has read nothing yet, and will read what is newest then."""
        return name in self._tasks and name not in self._at_work

    async def idle(self, name: str) -> None:
        """Waits until no build of the repository is at work; one that waits for its turn is not waited for."""
        while name in self._at_work and name in self._tasks:
            await asyncio.wait({self._tasks[name]})

    async def build(self, repository: Repository, cause: str) -> BuildRecord:
        """Builds a repository and returns what the log got; where it is being built already, waits for that build instead.

        A failure is a record, not an exception. A caller that is cancelled leaves the build running for the others; `stop` ends it.
        Raises: BuildRunning where another process builds it (`DatabaseError` where a good build cannot be written down).
        """
        task = self._tasks.get(repository.name)
        if task is None:
            if self._stopping:
                raise BuildFailed(f"{repository.name} is not built: Footnote is stopping.", "It is caught up at the next start.")
            task = asyncio.create_task(self._run(repository, cause), name=f"build {repository.name}")
            self._tasks[repository.name] = task
            task.add_done_callback(lambda done: self._ended(repository.name, done))
        return await asyncio.shield(task)

    async def stop(self, within: float = 20.0) -> None:
        """Ends all builds and waits up to `within` seconds for their ends. The indexes of before keep answering."""
        self._stopping = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=within)

    def _ended(self, name: str, task: asyncio.Task[BuildRecord]) -> None:
        del self._tasks[name]
        self._at_work.discard(name)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, BuildRunning):
            logger.info("%s is being built already, by somebody else", name)
        elif error is not None:
            logger.error("the build of %s could not be recorded", name, exc_info=error)

    async def _run(self, repository: Repository, cause: str) -> BuildRecord:
        async with self._slots:
            self._at_work.add(repository.name)
            started = self._clock()
            error: BaseException
            try:
                async with asyncio.timeout(self._timeout):
                    outcome = await self._rebuild(repository)
            except BuildRunning:
                raise
            except asyncio.CancelledError:
                stopped = BuildFailed(f"The build of {repository.name} was stopped with Footnote.", "It is caught up at the next start.")
                await self._log.record_build(self._failed(repository, stopped, cause, started))
                raise
            except TimeoutError:
                error = BuildFailed(
                    f"The build of {repository.name} took over {self._timeout / 3600:.1f} h.", "Narrow it with include or exclude."
                )
            except Exception as raised:
                error = raised
            else:
                record = BuildRecord.succeeded(outcome, cause=cause, started_at=started, finished_at=self._clock())
                await self._log.record_build(record)
                await self._recovered(record)
                return record
            logger.error("the build of %s failed", repository.name, exc_info=error)
            record = self._failed(repository, error, cause, started)
            await self._failing(record, await self._standing(record))
            return record

    async def _standing(self, failed: BuildRecord) -> str:
        """Writes the failure down. What answers meanwhile, in words."""
        try:
            before = await self._log.last_build(failed.repository, good=True)
            await self._log.record_build(failed)
        except DatabaseError:  # as where the disk is full: people are told all the more
            logger.exception("the failed build of %s could not be recorded", failed.repository)
            return "Its log cannot be written either."
        if before is None:
            return "It has no index yet, so questions about it cannot be answered."
        return f"The index of {before.finished_at:%Y-%m-%d %H:%M} UTC at commit {before.commit[:12]} keeps answering."

    async def _failing(self, record: BuildRecord, standing: str) -> None:
        if self._faults is not None and not await self._faults.is_news(record):
            return
        if await tell(self._announcer, _alert(record, standing)) and self._faults is not None:
            await self._faults.told(record)

    async def _recovered(self, record: BuildRecord) -> None:
        over = await self._faults.ended(record.repository) if self._faults is not None else []
        if over:
            nobody = "".join(f" Nothing fails with {kind} any more." for kind in over if kind in SHARED)
            again = f"{record.repository} builds again after {', '.join(over)}: its index is of commit {record.commit[:12]}.{nobody}"
            await tell(self._announcer, again)

    def _failed(self, repository: Repository, error: BaseException, cause: str, started: datetime) -> BuildRecord:
        return BuildRecord.failed(repository.name, error, cause=cause, started_at=started, finished_at=self._clock())


def _alert(record: BuildRecord, standing: str) -> str:
    """Fixed words: what git or a file said stays in the log."""
    shared = " Other repositories that fail for the same reason are not told of one by one." if record.error_kind in SHARED else ""
    return f"The {record.cause} build of {record.repository} failed ({record.error_kind}). {standing} `footnote status` says why.{shared}"
