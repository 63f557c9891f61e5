"""Many pushes, one build; what comes during a build, exactly one more."""

from __future__ import annotations

import asyncio

import pytest

from rag.answer_log import AnswerLog
from rag.errors import BuildFailed, BuildRunning
from scheduler import Builds, Pushes
from tests.scheduler.conftest import Listener, Workshop, repositories

DEMO, OTHER = repositories("demo", "other")


@pytest.fixture
def builds(workshop: Workshop, log: AnswerLog, listener: Listener) -> Builds:
    return Builds(workshop.rebuild, log, listener, timeout=20.0)


@pytest.fixture
def pushes(builds: Builds) -> Pushes:
    return Pushes(builds, pause=0.02)


async def _quiet(pushes: Pushes, *names: str) -> None:
    async with asyncio.timeout(20):
        while any(pushes.pending(name) for name in names):  # noqa: ASYNC110 - what is waited for is outside of any event
            await asyncio.sleep(0.005)


async def test_many_at_once_are_one_build(pushes: Pushes, workshop: Workshop, log: AnswerLog) -> None:
    for _ in range(50):
        pushes.pushed(DEMO)
    await _quiet(pushes, "demo")
    assert workshop.built == ["demo"]
    record = await log.last_build("demo")
    assert record is not None
    assert record.cause == "push"


async def test_those_during_a_build_are_exactly_one_more(pushes: Pushes, workshop: Workshop) -> None:
    workshop.seconds = 0.5
    pushes.pushed(DEMO)
    await asyncio.sleep(0.05)
    assert workshop.built == ["demo"]
    for _ in range(50):
        pushes.pushed(DEMO)
        await asyncio.sleep(0)
    await _quiet(pushes, "demo")
    assert workshop.built == ["demo", "demo"]
    assert workshop.most_at_work == 1


async def test_a_nightly_build_at_work_is_followed_by_one_more(pushes: Pushes, builds: Builds, workshop: Workshop) -> None:
    workshop.seconds = 0.1
    nightly = asyncio.create_task(builds.build(DEMO, "nightly"))
    await asyncio.sleep(0.02)
    pushes.pushed(DEMO)
    pushes.pushed(DEMO)
    assert (await nightly).cause == "nightly"
    await _quiet(pushes, "demo")
    assert workshop.built == ["demo", "demo"]


async def test_a_build_that_waits_for_its_turn_is_enough(pushes: Pushes, builds: Builds, workshop: Workshop) -> None:
    workshop.seconds = 0.1
    first = asyncio.create_task(builds.build(OTHER, "nightly"))
    nightly = asyncio.create_task(builds.build(DEMO, "nightly"))
    await asyncio.sleep(0.02)
    assert builds.waiting("demo")
    assert not builds.waiting("other")
    for _ in range(10):
        pushes.pushed(DEMO)
        await asyncio.sleep(0.002)
    await asyncio.gather(first, nightly)
    await _quiet(pushes, "demo", "other")
    assert workshop.built == ["other", "demo"]


async def test_what_somebody_else_builds_is_built_afterwards(pushes: Pushes, workshop: Workshop) -> None:
    workshop.errors["demo"] = BuildRunning("demo is being built.")
    pushes.pushed(DEMO)
    await asyncio.sleep(0.1)
    assert len(workshop.built) > 1
    assert pushes.pending("demo")
    del workshop.errors["demo"]
    await _quiet(pushes, "demo")
    assert workshop.built[-1] == "demo"


async def test_a_build_that_fails_is_told_once_and_the_next_push_tries_again(
    pushes: Pushes, workshop: Workshop, listener: Listener, log: AnswerLog
) -> None:
    workshop.errors["demo"] = BuildFailed("It failed.")
    pushes.pushed(DEMO)
    await _quiet(pushes, "demo")
    assert len(listener.alerts) == 1
    assert listener.alerts[0].startswith("The push build of demo failed (BuildFailed).")
    del workshop.errors["demo"]
    pushes.pushed(DEMO)
    await _quiet(pushes, "demo")
    record = await log.last_build("demo")
    assert record is not None
    assert record.ok


async def test_one_repository_does_not_hold_up_another(workshop: Workshop, log: AnswerLog, listener: Listener) -> None:
    builds = Builds(workshop.rebuild, log, listener, parallel=2)
    pushes = Pushes(builds)
    workshop.seconds = 0.1
    pushes.pushed(DEMO)
    pushes.pushed(OTHER)
    await _quiet(pushes, "demo", "other")
    assert workshop.most_at_work == 2


async def test_after_stop_nothing_is_built(pushes: Pushes, builds: Builds, workshop: Workshop) -> None:
    workshop.seconds = 60.0
    pushes.pushed(DEMO)
    await asyncio.sleep(0.02)
    pushes.pushed(DEMO)
    await pushes.stop()
    await builds.stop(5.0)
    pushes.pushed(DEMO)
    await asyncio.sleep(0.02)
    assert workshop.built == ["demo"]
    assert workshop.ended_early == ["demo"]
    assert not pushes.pending("demo")
