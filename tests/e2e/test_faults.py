"""A night in which builds fail in every way at once, through the scheduler's job and real builder processes: yesterday's indexes keep
answering word for word, each fault is told once, nobody else is held up, and the next good night says so."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from bot import building
from rag.answer_log import MIGRATIONS, AnswerLog
from rag.chunking import ChunkingSettings
from rag.database import Database
from rag.embedding.models import EmbeddingSettings, describe
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import Indexes
from rag.index.jobs import BuildEvent, BuildReport
from rag.types import Repository
from scheduler import Builds, Faults, Nightly
from scheduler import faults as faults_module
from tests.index.fixtures import commit_files, data_directory, git, make_repository
from tests.scheduler.conftest import Listener

pytestmark = [pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can limit another process"), pytest.mark.timeout(600)]

FAULTS = {
    "unreachable": "CloneFailed",
    "lost": "BuildFailed",
    "crashing": "BuildFailed",
    "full": "DiskFull",
    "hanging": "BuildFailed",
}
WELL = "parsed"
HANGS_FOR = 3.0


def files(name: str, edition: int) -> dict[str, str | bytes | None]:
    return {
        f"{part}.py": f'"""Edition{edition} of {name}."""\n\n\ndef {part}_{name}(parcel):\n    return edition{edition}(parcel, "{part}")\n'
        for part in ("assign", "expire", "notify", "weigh")
    }


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listening:
        yield f"https://localhost:{listening.getsockname()[1]}/o/n.git"


@dataclass
class House:
    place: Path
    data: Path
    silent: str
    model: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    faulty: bool = False
    struck: set[str] = field(default_factory=set)

    def source(self, name: str) -> Path:
        return self.place / "sources" / name

    def repositories(self) -> list[Repository]:
        """As configured: the one that is well waits for all the others."""
        return [self.repository(name) for name in (*FAULTS, WELL)]

    def repository(self, name: str) -> Repository:
        healthy = Repository(name, str(self.source(name)))
        if not self.faulty:
            return healthy
        elsewhere = {"unreachable": "https://localhost:9/o/n.git", "hanging": self.silent}
        return replace(healthy, source=elsewhere.get(name, healthy.source))

    def break_sources(self) -> None:
        self.faulty = True
        commit_files(self.source("lost"), dict.fromkeys(("assign.py", "expire.py"), b"\0\1\2" * 400))

    def mend_sources(self) -> None:
        self.faulty = False
        commit_files(self.source("lost"), files("lost", 2))

    async def rebuild(self, log: AnswerLog, repository: Repository) -> BuildReport:
        """As the wiring does it, and what goes wrong inside a builder goes wrong there."""
        builds = building.Builds(self.data, log, self.model, ChunkingSettings(), private_hosts=("localhost",))

        def on_event(event: BuildEvent) -> None:
            if not self.faulty or event.stage != "chunk" or repository.name in self.struck:
                return
            self.struck.add(repository.name)
            [builder] = below(psutil.Process(), "rag.index.build_process")
            if repository.name == "crashing":
                os.kill(builder.pid, signal.SIGSEGV)
            elif repository.name == "full":
                resource.prlimit(builder.pid, resource.RLIMIT_FSIZE, (4_000, 4_000))
            elif repository.name == WELL:
                for worker in below(builder, "rag.chunking.worker"):
                    worker.kill()

        # A hung git would be ended after a quarter of an hour, and a build after hours: here nobody waits for that.
        async with asyncio.timeout(HANGS_FOR if self.faulty and repository.name == "hanging" else None):
            return await builds.run(repository, on_event=on_event)


def below(process: psutil.Process, module: str) -> list[psutil.Process]:
    """Its children that run the module."""
    found = []
    for child in process.children():
        with suppress(psutil.Error):  # it ended meanwhile
            if module in child.cmdline():
                found.append(child)
    return found


def answers(indexes: Indexes, name: str) -> tuple[str, list[object]]:
    """The commit, and what both retrievers find, every score."""
    with indexes.for_name(name).open() as generation:
        assert generation.dense is not None
        assert generation.vectors is not None
        chunks = list(generation.chunks.all())
        found: list[object] = [*generation.sparse.search(["parcel", "expire"], 10)]
        found += generation.dense.search(generation.vectors[0], 10)
        return generation.info.commit, [chunks, found]


async def test_every_fault_of_a_night_is_told_once_and_holds_up_nobody(tmp_path: Path, models_directory: Path, silent: str) -> None:
    house = House(tmp_path, data_directory(tmp_path / "data", models_directory), silent)
    names = [repository.name for repository in house.repositories()]
    for name in names:
        make_repository(house.source(name), {key: value for key, value in files(name, 1).items() if value is not None})
    listener = Listener()
    indexes = Indexes(house.data, EdgeBackend(), describe(EmbeddingSettings()))
    async with Database(house.data / "footnote.sqlite", (*MIGRATIONS, *faults_module.MIGRATIONS)) as database:
        log = AnswerLog(database)

        def nightly() -> Nightly:
            """As after a start: it remembers only what the database holds."""
            faults = Faults(database, lambda: datetime.now(UTC))
            builds = Builds(
                lambda repository: house.rebuild(log, repository), log, listener, faults=faults, parallel=1 if house.faulty else 2
            )
            return Nightly(house.repositories, builds, log)

        assert (await nightly().run()).detail == counts(built=6)
        yesterday = {name: answers(indexes, name) for name in names}

        for name in names:
            commit_files(house.source(name), files(name, 2))
        house.break_sources()
        result = await nightly().run()
        assert result.detail == counts(built=1, failed=5), result.reason
        assert all(f"{name}: " in result.reason for name in FAULTS)
        told = {alert.split(" build of ")[1].split(". ")[0] for alert in listener.alerts}
        assert told == {f"{name} failed ({kind})" for name, kind in FAULTS.items()}
        assert len(listener.alerts) == len(FAULTS)
        assert all("keeps answering" in alert and yesterday_commit(yesterday, alert) in alert for alert in listener.alerts)
        for name in FAULTS:
            assert answers(indexes, name) == yesterday[name], name
        assert answers(indexes, WELL)[0] == git(house.source(WELL), "rev-parse", "HEAD")
        parsed = await log.last_build(WELL)
        assert parsed is not None
        assert sum(parsed.fallbacks.values()) <= 1  # a parser that died cost one file its tree, not the build

        house.model = EmbeddingSettings(model="no-such-model")  # all fail, and alike
        before = len(listener.alerts)
        result = await nightly().run()
        assert result.detail == counts(failed=6)
        assert [alert.split(" failed ")[1].split(".")[0] for alert in listener.alerts[before:]] == ["(UnknownModel)"]
        for name in FAULTS:
            assert answers(indexes, name) == yesterday[name], name

        house.model = EmbeddingSettings()
        house.mend_sources()
        before = len(listener.alerts)
        result = await nightly().run()
        assert result.detail["failed"] == 0, result.reason
        over = " ".join(listener.alerts[before:])
        assert all(over.count(f"{name} builds again after ") == 1 for name in FAULTS)
        assert over.count("Nothing fails with UnknownModel any more.") == 1
        for name in names:
            assert answers(indexes, name)[0] == git(house.source(name), "rev-parse", "HEAD")
        assert not list(house.data.glob("repositories/*/generations/*.partial"))
    indexes.close()
    shutil.rmtree(house.data)


def counts(**some: int) -> dict[str, float]:
    return {"repositories": 6, "built": 0, "unchanged": 0, "busy": 0, "failed": 0, "stopped": 0, **some}


def yesterday_commit(yesterday: dict[str, tuple[str, list[object]]], alert: str) -> str:
    return yesterday[alert.split(" build of ")[1].split(" ")[0]][0][:12]
