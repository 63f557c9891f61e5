"""Builds of indexes: one a repository at a time, a few at once, each in a process of its own, each in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rag.answer_log import AnswerLog, BuildRecord
from rag.chunking import ChunkingSettings
from rag.embedding.models import EmbeddingSettings
from rag.errors import BuildRunning, FootnoteError
from rag.index.build_child import SpareChild
from rag.index.build_process import run_build
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.index.recipe import recipe_of, scope_of
from rag.index.server_settings import ServerSettings
from rag.types import EmbeddingSpec, Repository

OnEvent = Callable[[BuildEvent], None]


@dataclass(frozen=True, slots=True)
class Manners:
    """How much of the machine a build takes. `threads`: of its embedding and of the libraries below it, 0 for one a core. `workers`:
    processes that parse. `nice`: 0 to 19, of all its processes."""

    nice: int
    threads: int
    workers: int


BESIDE_ANSWERS = Manners(nice=19, threads=1, workers=1)
"""While people wait for answers: one thread, and that only where nobody else wants the processor."""


@dataclass(frozen=True, slots=True)
class RunningBuild:
    """A build under way and how far it is."""

    repository: str
    started_at: datetime
    stage: str
    done: int
    total: int


class Builds:
    """Starts builds and knows which are running. `at_once`: how many may; the rest wait their turn. `token`: what git needs to clone.
    `secrets`: our own tokens, which the builder redacts wherever a repository holds them. `spare`: a builder that waits already, for the
    first build. `server`: where dense stores are made, None for this machine. `named`: whether names of
    authors are kept."""

    def __init__(
        self,
        data_dir: Path,
        log: AnswerLog,
        embedding: EmbeddingSettings,
        chunking: ChunkingSettings,
        *,
        token: str = "",
        secrets: tuple[str, ...] = (),
        private_hosts: tuple[str, ...] = (),
        manners: Manners = BESIDE_ANSWERS,
        at_once: int = 1,
        spare: SpareChild | None = None,
        server: ServerSettings | None = None,
        named: bool = True,
    ) -> None:
        self._data_dir = data_dir
        self._log = log
        self._embedding = embedding
        self._chunking = chunking
        self._token = token
        self._secrets = secrets
        self._private_hosts = private_hosts
        self._manners = manners
        self._spare = spare
        self._server = server
        self._named = named
        self._turns = asyncio.Semaphore(at_once)
        self._running: dict[str, RunningBuild] = {}

    def running(self) -> tuple[RunningBuild, ...]:
        return tuple(self._running.values())

    def recipe(self, repository: Repository, spec: EmbeddingSpec) -> str:
        """What an index of this repository that was built now would be made by. Reads files."""
        return recipe_of(spec, self._chunking, scope_of(repository))

    async def run(self, repository: Repository, *, force: bool = False, on_event: OnEvent | None = None) -> BuildReport:
        """Brings the repository's index up to its newest commit. The caller logs how that went.

        Raises: BuildRunning where it is being built already, and what rag.index.builder.build raises. Cancelling it ends the build.
        """
        name = repository.name
        if name in self._running:
            raise BuildRunning(f"{name} is being built already.", "footnote status shows how far it is.")
        started = datetime.now(UTC)
        self._running[name] = RunningBuild(name, started, "waiting", 0, 0)

        def note(event: BuildEvent) -> None:
            self._running[name] = RunningBuild(name, started, event.stage, event.done, event.total)
            if on_event is not None:
                on_event(event)

        job = BuildJob(
            repository=repository,
            data_dir=self._data_dir,
            embedding=self._embedding,
            chunking=self._chunking,
            threads=self._manners.threads,
            force=force,
            private_hosts=self._private_hosts,
            history="names" if self._named else "dates",
        )
        try:
            async with self._turns:
                own = self._manners
                return await run_build(
                    job,
                    note,
                    token=self._token,
                    secrets=self._secrets,
                    nice=own.nice,
                    workers=own.workers,
                    spare=self._spare,
                    server=self._server,
                )
        finally:
            del self._running[name]

    async def build(self, repository: Repository, *, cause: str, force: bool = False, on_event: OnEvent | None = None) -> BuildReport:
        """`run`, and a record of it in the log, however it went. Raises: what `run` raises."""
        started = datetime.now(UTC)
        try:
            report = await self.run(repository, force=force, on_event=on_event)
        except BuildRunning:
            raise
        except FootnoteError as error:
            record = BuildRecord.failed(repository.name, error, cause=cause, started_at=started, finished_at=datetime.now(UTC))
            await self._log.record_build(record)
            raise
        await self._log.record_build(BuildRecord.succeeded(report, cause=cause, started_at=started, finished_at=datetime.now(UTC)))
        return report
