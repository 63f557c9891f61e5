"""Never two builds of one repository, each in the log, one alert for each that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from rag.answer_log import AnswerLog
from rag.errors import BuildFailed, BuildRunning, CloneFailed
from scheduler import Builds
from tests.log.samples import COMMIT
from tests.scheduler.conftest import NOW, Clock, Listener, Workshop, repositories

(DEMO,) = repositories("demo")


@pytest.fixture
def builds(workshop: Workshop, log: AnswerLog, listener: Listener, clock: Clock) -> Builds:
    return Builds(workshop.rebuild, log, listener, timeout=20.0, clock=clock)


async def test_a_good_build_is_in_the_log_and_nobody_is_told(builds: Builds, log: AnswerLog, listener: Listener) -> None:
    record = await builds.build(DEMO, "nightly")
    assert record.ok
    assert await log.last_build("demo") == record
    assert (record.cause, record.started_at, record.commit, record.embedded) == ("nightly", NOW, COMMIT, 2)
    assert listener.alerts == []
    assert builds.running() == []


async def test_a_second_request_waits_for_the_build_that_runs(builds: Builds, workshop: Workshop) -> None:
    workshop.seconds = 0.1
    tasks = [asyncio.create_task(builds.build(DEMO, "nightly")) for _ in range(5)]
    await asyncio.sleep(0.02)
    assert builds.running() == ["demo"]
    tasks[0].cancel()  # one who asked goes away; the build goes on for the others
    records = await asyncio.gather(*tasks[1:])
    assert workshop.built == ["demo"]
    assert all(record is records[0] for record in records)
    await builds.build(DEMO, "nightly")
    assert workshop.built == ["demo", "demo"]


async def test_one_alert_a_failed_build_in_fixed_words(builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener) -> None:
    await builds.build(DEMO, "nightly")
    workshop.errors["demo"] = CloneFailed("https://example.org/<!channel> said no.", "Check it.")
    record = await builds.build(DEMO, "nightly")
    assert (record.ok, record.error_kind, record.error) == (False, "CloneFailed", "https://example.org/<!channel> said no. Check it.")
    assert await log.last_build("demo") == record
    assert listener.alerts == [
        "The nightly build of demo failed (CloneFailed). The index of 2026-03-04 05:06 UTC at commit 0123456789ab keeps answering."
        " `footnote status` says why."
    ]


async def test_an_unexpected_error_of_a_first_build(builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener) -> None:
    workshop.errors["demo"] = ValueError("xoxb-secret")
    record = await builds.build(DEMO, "catch-up")
    assert record.error_kind == "ValueError"
    assert "secret" not in record.error
    assert len(listener.alerts) == 1
    assert "no index yet" in listener.alerts[0]
    assert "secret" not in listener.alerts[0]


async def test_an_alert_that_cannot_be_sent_changes_nothing(builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener) -> None:
    listener.deaf = True
    workshop.errors["demo"] = BuildFailed("It failed.")
    assert await builds.build(DEMO, "nightly") == await log.last_build("demo")


async def test_a_build_of_another_process_is_neither_failure_nor_alert(
    builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener
) -> None:
    workshop.errors["demo"] = BuildRunning("demo is being built.")
    with pytest.raises(BuildRunning):
        await builds.build(DEMO, "nightly")
    assert await log.last_build("demo") is None
    assert listener.alerts == []
    del workshop.errors["demo"]
    assert (await builds.build(DEMO, "nightly")).ok


async def test_an_endless_build_is_ended_and_failed(workshop: Workshop, log: AnswerLog, listener: Listener) -> None:
    builds = Builds(workshop.rebuild, log, listener, timeout=0.2)
    workshop.seconds = 60.0
    record = await builds.build(DEMO, "nightly")
    assert (record.ok, record.error_kind) == (False, "BuildFailed")
    assert "took over" in record.error
    assert workshop.ended_early == ["demo"]
    assert len(listener.alerts) == 1


@pytest.mark.parametrize("parallel", [1, 2])
async def test_at_most_so_many_at_once(workshop: Workshop, log: AnswerLog, listener: Listener, parallel: int) -> None:
    workshop.seconds = 0.02
    builds = Builds(workshop.rebuild, log, listener, parallel=parallel)
    await asyncio.gather(*(builds.build(repository, "nightly") for repository in repositories(*"abcde")))
    assert sorted(workshop.built) == list("abcde")
    assert workshop.most_at_work == parallel


async def test_stopping_ends_builds_says_so_in_the_log_and_starts_no_other(
    builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener
) -> None:
    workshop.seconds = 60.0
    a, b = repositories("a", "b")  # b waits for its turn
    waiting: Callable[[], Awaitable[object]] = lambda: asyncio.gather(  # noqa: E731
        builds.build(a, "nightly"), builds.build(b, "nightly"), return_exceptions=True
    )
    task = asyncio.ensure_future(waiting())
    await asyncio.sleep(0.05)
    await builds.stop(5.0)
    await task
    assert workshop.ended_early == ["a"]
    assert workshop.built == ["a"]
    record = await log.last_build("a")
    assert record is not None
    assert "stopped with Footnote" in record.error
    assert await log.last_build("b") is None
    assert listener.alerts == []
    with pytest.raises(BuildFailed, match="stopping"):
        await builds.build(DEMO, "nightly")
