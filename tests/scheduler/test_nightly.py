"""Every repository, or those that are too old; one that fails does not stop the others."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rag.answer_log import AnswerLog, BuildRecord
from rag.errors import BuildRunning, CloneFailed
from rag.types import Repository
from scheduler import Builds, Nightly
from tests.log.test_upkeep import Outcome
from tests.scheduler.conftest import NOW, Clock, Listener, Workshop, repositories


@pytest.fixture
def builds(workshop: Workshop, log: AnswerLog, listener: Listener, clock: Clock) -> Builds:
    return Builds(workshop.rebuild, log, listener, clock=clock)


async def _built(log: AnswerLog, name: str, at: datetime, *, ok: bool = True) -> None:
    if ok:
        await log.record_build(BuildRecord.succeeded(Outcome(repository=name), cause="nightly", started_at=at, finished_at=at))
    else:
        await log.record_build(BuildRecord.failed(name, CloneFailed("No."), cause="nightly", started_at=at, finished_at=at))


async def test_one_of_ten_unreachable_nine_fresh_one_named(
    builds: Builds, workshop: Workshop, log: AnswerLog, listener: Listener, clock: Clock
) -> None:
    names = [f"r{number}" for number in range(10)]
    nightly = Nightly(lambda: repositories(*names), builds, log, clock=clock)
    workshop.errors["r3"] = CloneFailed("r3 is gone.", "Look for it.")
    result = await nightly.run()
    assert workshop.built == names
    assert result.reason == "r3: r3 is gone. Look for it."
    assert result.detail == {"repositories": 10, "built": 9, "unchanged": 0, "busy": 0, "failed": 1, "stopped": 0}
    assert [alert.split(" failed")[0] for alert in listener.alerts] == ["The nightly build of r3"]
    builds_of = [await log.last_build(name) for name in names]
    assert [build.ok for build in builds_of if build] == [name != "r3" for name in names]


async def test_unchanged_and_busy_are_no_failures(builds: Builds, workshop: Workshop, log: AnswerLog, clock: Clock) -> None:
    workshop.unchanged = True
    workshop.errors["b"] = BuildRunning("b is being built.")
    result = await Nightly(lambda: repositories("a", "b"), builds, log, clock=clock).run()
    assert result.reason == ""
    assert (result.detail["unchanged"], result.detail["busy"], result.detail["failed"]) == (1, 1, 0)


async def test_the_list_of_repositories_is_asked_for_each_time(builds: Builds, workshop: Workshop, log: AnswerLog) -> None:
    names: list[str] = []
    nightly = Nightly(lambda: repositories(*names), builds, log)
    assert (await nightly.run()).detail["repositories"] == 0
    names.append("new")
    await nightly.run()
    assert workshop.built == ["new"]


async def test_catching_up_builds_what_is_missing_too_old_or_from_the_future(
    builds: Builds, workshop: Workshop, log: AnswerLog, clock: Clock
) -> None:
    await _built(log, "fresh", NOW - timedelta(hours=25.9))
    await _built(log, "old", NOW - timedelta(hours=26.1))
    await _built(log, "failing", NOW - timedelta(hours=50))
    await _built(log, "failing", NOW - timedelta(hours=2), ok=False)
    await _built(log, "failed once", NOW - timedelta(hours=3))
    await _built(log, "failed once", NOW - timedelta(hours=2), ok=False)
    await _built(log, "future", NOW + timedelta(hours=3))
    nightly = Nightly(lambda: repositories("fresh", "old", "never", "failing", "failed once", "future"), builds, log, clock=clock)
    result = await nightly.catch_up()
    assert workshop.built == ["old", "never", "failing", "future"]
    assert result.detail["built"] == 4
    assert (await nightly.catch_up()).detail["repositories"] == 0
    last = await log.last_build("never")
    assert last is not None
    assert last.cause == "catch-up"


async def test_catching_up_builds_what_is_not_of_what_is_configured(
    builds: Builds, workshop: Workshop, log: AnswerLog, clock: Clock
) -> None:
    asked = []

    async def fits(repository: Repository) -> bool:
        asked.append(repository.name)
        if repository.name == "unreadable":
            raise OSError("a bad disk")
        return repository.name != "other model"

    for name in ("fitting", "other model", "unreadable"):
        await _built(log, name, NOW - timedelta(hours=1))
    nightly = Nightly(lambda: repositories("fitting", "other model", "unreadable", "never"), builds, log, fits=fits, clock=clock)
    result = await nightly.catch_up()
    assert asked == ["fitting", "other model", "unreadable"]
    assert workshop.built == ["other model", "unreadable", "never"]
    assert result.detail["built"] == 3
    last = await log.last_build("other model")
    assert last is not None
    assert last.cause == "catch-up"
