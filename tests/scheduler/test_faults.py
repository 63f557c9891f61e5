"""One alert when builds begin to fail, one when that is over, and none for each night between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag.answer_log import MIGRATIONS, AnswerLog
from rag.database import Database
from rag.errors import BuildFailed, CloneFailed, DiskFull, FootnoteError
from scheduler import Builds, Faults
from scheduler import faults as faults_module
from tests.scheduler.conftest import Clock, Listener, Workshop, repositories

A, B = repositories("a", "b")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "footnote.sqlite", (*MIGRATIONS, *faults_module.MIGRATIONS)) as database:
        yield database


@pytest.fixture
def builds(database: Database, workshop: Workshop, listener: Listener, clock: Clock) -> Builds:
    return _started(database, workshop, listener, clock)


def _started(database: Database, workshop: Workshop, listener: Listener, clock: Clock) -> Builds:
    """As after every start: nothing is remembered but what the file holds."""
    return Builds(workshop.rebuild, AnswerLog(database, clock=clock), listener, faults=Faults(database, clock), clock=clock)


async def test_a_fault_that_lasts_is_told_once_and_so_is_its_end_also_across_restarts(
    database: Database, workshop: Workshop, listener: Listener, clock: Clock
) -> None:
    for night in range(6):
        words = f"https://example.org/a.git cannot be fetched: Failed to connect after {131 + night} ms."  # git's words vary
        workshop.errors["a"] = CloneFailed(words)
        await _started(database, workshop, listener, clock).build(A, "nightly")
        clock.advance(days=1)
    assert len(listener.alerts) == 1
    assert "a failed (CloneFailed)" in listener.alerts[0]
    workshop.errors.clear()
    for _ in range(3):
        await _started(database, workshop, listener, clock).build(A, "push")
    assert listener.alerts[1:] == ["a builds again after CloneFailed: its index is of commit 0123456789ab."]
    workshop.errors["a"] = CloneFailed("Gone again.")
    await _started(database, workshop, listener, clock).build(A, "nightly")
    assert len(listener.alerts) == 3


@pytest.mark.parametrize(
    ("first", "second", "alerts"),
    [
        (CloneFailed("x"), DiskFull("y"), 2),
        (BuildFailed("lost 40 of 100 chunks of 2026-03-04"), BuildFailed("lost 41 of 102 chunks of 2026-03-05"), 1),
        (BuildFailed("commit 0123456789abcdef0123456789abcdef01234567"), BuildFailed("commit ffffffffffffffffffffffffffffffffffffffff"), 1),
        (BuildFailed("lost chunks"), BuildFailed("took longer than 9 s"), 2),
        (ValueError("x"), KeyError("y"), 2),
    ],
)
async def test_another_fault_is_told_and_the_same_with_other_numbers_is_not(
    builds: Builds, workshop: Workshop, listener: Listener, first: Exception, second: Exception, alerts: int
) -> None:
    for error in (first, second):
        workshop.errors["a"] = error
        await builds.build(A, "nightly")
    assert len(listener.alerts) == alerts


async def test_what_fails_for_all_is_one_alert_and_one_when_the_last_builds_again(
    builds: Builds, workshop: Workshop, listener: Listener, clock: Clock
) -> None:
    for night in range(3):
        for repository in (A, B):
            workshop.errors[repository.name] = DiskFull(f"{night} MB are free.")
            await builds.build(repository, "nightly")
        clock.advance(days=1)
    assert len(listener.alerts) == 1
    assert "not told of one by one" in listener.alerts[0]
    workshop.errors.clear()
    await builds.build(B, "nightly")
    assert len(listener.alerts) == 1
    await builds.build(A, "nightly")
    assert len(listener.alerts) == 2
    assert "Nothing fails with DiskFull any more" in listener.alerts[1]


async def test_faults_that_alternate_are_told_once_each(builds: Builds, workshop: Workshop, listener: Listener, clock: Clock) -> None:
    for night in range(6):
        workshop.errors["a"] = CloneFailed("No.") if night % 2 else DiskFull("No.")
        await builds.build(A, "nightly")
        clock.advance(days=1)
    assert len(listener.alerts) == 2
    workshop.errors.clear()
    await builds.build(A, "nightly")
    assert listener.alerts[2].startswith("a builds again after DiskFull, CloneFailed: ")


async def test_what_fails_for_one_is_told_of_each(builds: Builds, workshop: Workshop, listener: Listener) -> None:
    for repository in (A, B):
        workshop.errors[repository.name] = CloneFailed("No.")
        await builds.build(repository, "nightly")
    assert len(listener.alerts) == 2


async def test_an_alert_that_could_not_be_sent_is_sent_the_next_time(builds: Builds, workshop: Workshop, listener: Listener) -> None:
    workshop.errors["a"] = CloneFailed("No.")
    listener.deaf = True
    await builds.build(A, "nightly")
    listener.deaf = False
    for _ in range(2):
        await builds.build(A, "nightly")
    assert len(listener.alerts) == 1


@pytest.mark.parametrize("error", [CloneFailed("No."), DiskFull("No.")])
async def test_a_fault_that_lasts_is_told_again_each_week_and_after_a_clock_that_was_wrong(
    builds: Builds, workshop: Workshop, listener: Listener, clock: Clock, error: FootnoteError
) -> None:
    workshop.errors["a"] = error
    for _ in range(15):
        await builds.build(A, "nightly")
        clock.advance(days=1)
    assert len(listener.alerts) == 3
    clock.advance(days=-300)
    for _ in range(2):
        await builds.build(A, "nightly")
    assert len(listener.alerts) == 4


async def test_a_repository_that_is_gone_silences_a_shared_fault_for_a_week_at_most(
    builds: Builds, workshop: Workshop, listener: Listener, clock: Clock
) -> None:
    workshop.errors = {"a": DiskFull("No."), "b": DiskFull("No.")}
    await builds.build(A, "nightly")  # and is then taken out of the configuration
    clock.advance(days=8)
    await builds.build(B, "nightly")
    assert len(listener.alerts) == 2


@pytest.mark.parametrize("tables", [("faults",), ("faults", "builds")])
async def test_what_cannot_be_written_down_is_told_all_the_same_and_once(
    builds: Builds, workshop: Workshop, database: Database, listener: Listener, tables: tuple[str, ...]
) -> None:
    """As where the disk is full: the database lies on it too."""
    for table in tables:
        await database.write(lambda db, table=table: db[table].drop())  # type: ignore[misc]
    for repository in (A, B, A):
        workshop.errors[repository.name] = DiskFull("No.")
        assert not (await builds.build(repository, "nightly")).ok
    assert len(listener.alerts) == 1
    if "builds" in tables:
        assert "cannot be written either" in listener.alerts[0]
        return
    workshop.errors.clear()
    for repository in (A, B):
        assert (await builds.build(repository, "nightly")).ok
    assert len(listener.alerts) == 2
