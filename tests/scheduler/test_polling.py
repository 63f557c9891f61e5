"""Sources that are looked at: built when they have something new, and quiet otherwise."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from rag.answer_log import AnswerLog
from rag.errors import BuildFailed, CloneFailed
from rag.types import Repository
from scheduler import Builds, Polling, Pushes
from scheduler.protocols import JobResult
from tests.log.samples import COMMIT
from tests.scheduler.conftest import Clock, Listener, Workshop, repositories

DEMO = repositories("demo")
NEWER = "f" * 40


@dataclass
class Source:
    commit: str = COMMIT
    error: CloneFailed | None = None
    asked: int = 0
    at_work: int = 0
    most: int = field(default=0)

    async def newest(self, repository: Repository) -> str:
        self.asked += 1
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await asyncio.sleep(0.01)
        self.at_work -= 1
        if self.error is not None:
            raise self.error
        return self.commit


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def pushes(workshop: Workshop, log: AnswerLog, listener: Listener, clock: Clock) -> Pushes:
    return Pushes(Builds(workshop.rebuild, log, listener, clock=clock))


@pytest.fixture
def polling(source: Source, log: AnswerLog, pushes: Pushes) -> Polling:
    return Polling(lambda: DEMO, {"demo": 60.0}, source.newest, log, pushes)


async def _quiet(pushes: Pushes) -> None:
    async with asyncio.timeout(20):
        while pushes.pending("demo"):  # noqa: ASYNC110 - what is waited for is outside of any event
            await asyncio.sleep(0.005)


async def test_only_what_is_new_is_built(polling: Polling, source: Source, pushes: Pushes, workshop: Workshop, log: AnswerLog) -> None:
    assert await polling.look("demo") == JobResult(detail={"changed": 1.0})  # no index yet
    await _quiet(pushes)
    record = await log.last_build("demo")
    assert record is not None
    assert (record.cause, record.commit) == ("poll", COMMIT)
    assert await polling.look("demo") == JobResult()  # told once that all is well
    for _ in range(5):
        assert await polling.look("demo") is None
    assert workshop.built == ["demo"]
    source.commit = NEWER
    assert await polling.look("demo") == JobResult(detail={"changed": 1.0})
    await _quiet(pushes)
    assert workshop.built == ["demo", "demo"]


async def test_what_is_being_built_is_not_looked_at(polling: Polling, source: Source, pushes: Pushes, workshop: Workshop) -> None:
    workshop.seconds = 0.1
    pushes.pushed(DEMO[0])
    await asyncio.sleep(0.02)
    assert await polling.look("demo") is None
    assert source.asked == 0
    await _quiet(pushes)


async def test_a_commit_whose_build_fails_is_tried_once(
    polling: Polling, source: Source, pushes: Pushes, workshop: Workshop, listener: Listener
) -> None:
    workshop.errors["demo"] = BuildFailed("It failed.")
    for _ in range(4):
        await polling.look("demo")
        await _quiet(pushes)
    assert workshop.built == ["demo"]
    assert len(listener.alerts) == 1
    source.commit = NEWER
    await polling.look("demo")
    await _quiet(pushes)
    assert workshop.built == ["demo", "demo"]


async def test_a_source_that_cannot_be_read_is_told_once_and_so_is_its_return(polling: Polling, source: Source, workshop: Workshop) -> None:
    source.error = CloneFailed("https://example.org/demo.git cannot be fetched.", "Check the network.")
    first = await polling.look("demo")
    assert first is not None
    assert "cannot be fetched" in first.reason
    assert await polling.look("demo") is None
    assert workshop.built == []
    source.error = None
    assert await polling.look("demo") == JobResult(detail={"changed": 1.0})


async def test_few_sources_are_asked_at_once_and_an_unknown_one_never(source: Source, log: AnswerLog, pushes: Pushes) -> None:
    many = repositories(*(f"r{number}" for number in range(12)))
    polling = Polling(lambda: many, {one.name: 60.0 for one in many}, source.newest, log, pushes, at_once=3)
    await asyncio.gather(*(polling.look(one.name) for one in many))
    assert source.most == 3
    assert await polling.look("gone") is None
    assert source.asked == 12
    await pushes.stop()
