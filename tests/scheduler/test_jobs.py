"""The clockwork, on a clock that tests set: on time, once, through jumps, and with every run in the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from rag.answer_log import MIGRATIONS, AnswerLog, BuildRecord
from rag.database import Database
from rag.errors import CloneFailed, ConfigurationError
from rag.types import Repository
from scheduler import Builds, Judging, Nightly, Polling, Pushes, Retention, ScheduleSettings
from scheduler.jobs import Scheduler
from tests.log.samples import COMMIT
from tests.log.test_upkeep import Outcome
from tests.scheduler.conftest import Listener, Workshop, repositories
from tests.scheduler.test_judging import Referee

EVENING = datetime(2026, 3, 28, 20, tzinfo=UTC)  # the night in which Berlin's clocks go forward
NIGHT = datetime(2026, 3, 29, 2, tzinfo=UTC)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[AnswerLog]:
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as database:
        yield AnswerLog(database)


@pytest.fixture
def machine() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(EVENING, tick=True) as traveller:
        yield traveller


@pytest.fixture
def make(log: AnswerLog, workshop: Workshop, listener: Listener) -> Callable[..., Scheduler]:
    def make(**changes: object) -> Scheduler:
        settings = ScheduleSettings(**changes)  # type: ignore[arg-type]
        builds = Builds(workshop.rebuild, log, listener)
        nightly = Nightly(lambda: repositories("demo"), builds, log)
        judging = Judging(log, Referee(), lambda name: True, listener, settings)
        return Scheduler(settings, log, builds, nightly, judging, Retention(log, 90), heartbeat=0.03)

    return make


async def _fresh(log: AnswerLog) -> None:
    """A good build of now, so that nothing is caught up."""
    now = datetime.now(UTC)
    await log.record_build(BuildRecord.succeeded(Outcome(), cause="test", started_at=now, finished_at=now))


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what is waited for is outside of any event
            await asyncio.sleep(0.01)


async def _built(workshop: Workshop, times: int) -> None:
    await _until(lambda: len(workshop.built) >= times)
    assert len(workshop.built) == times


async def _run_of(log: AnswerLog, job: str) -> None:
    async with asyncio.timeout(30):
        while job not in await log.last_runs():  # noqa: ASYNC110 - see _until
            await asyncio.sleep(0.01)


async def test_the_next_runs_are_known_and_in_utc(log: AnswerLog, machine: time_machine.Traveller, make: Callable[..., Scheduler]) -> None:
    scheduler = make()
    assert scheduler.next_runs() == {}
    await scheduler.start()
    expected = {"nightly": NIGHT, "judging": NIGHT + timedelta(hours=2), "retention": NIGHT + timedelta(hours=2.5)}
    assert scheduler.next_runs() == expected
    await scheduler.stop()
    await scheduler.stop()
    assert scheduler.next_runs() == {}


async def test_jitter_moves_the_night_alone(machine: time_machine.Traveller, make: Callable[..., Scheduler]) -> None:
    seen = set()
    for _ in range(5):
        scheduler = make(nightly_jitter=600)
        await scheduler.start()
        runs = scheduler.next_runs()
        await scheduler.stop()
        assert timedelta(0) <= runs["nightly"] - NIGHT <= timedelta(seconds=600)
        assert runs["retention"] == NIGHT + timedelta(hours=2.5)
        seen.add(runs["nightly"])
    assert len(seen) > 1


async def test_sources_are_looked_at_at_the_start_and_then_as_often_as_they_should_be_also_after_the_clock_was_set_back(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, listener: Listener
) -> None:
    await _fresh(log)
    looks: list[datetime] = []

    async def newest(repository: Repository) -> str:
        looks.append(datetime.now(UTC))
        return COMMIT

    builds = Builds(workshop.rebuild, log, listener)
    polling = Polling(lambda: repositories("demo"), {"demo": 600.0}, newest, log, Pushes(builds))
    nightly = Nightly(lambda: repositories("demo"), builds, log)
    scheduler = Scheduler(ScheduleSettings(), log, builds, nightly, None, Retention(log, 90), polling, heartbeat=0.03)
    await scheduler.start()
    await _run_of(log, "poll demo")
    await _until(lambda: len(looks) == 1)
    first = (await log.last_runs())["poll demo"]
    assert first.ok
    await asyncio.sleep(0.1)
    assert len(looks) == 1
    for minutes, expected in ((9, 1), (11, 2), (19, 2), (22, 3)):
        machine.move_to(EVENING + timedelta(minutes=minutes))
        await asyncio.sleep(0.15)
        assert len(looks) == expected
    machine.move_to(EVENING - timedelta(days=300))
    await asyncio.sleep(0.15)
    assert scheduler.next_runs()["poll demo"] - datetime.now(UTC) <= timedelta(minutes=10)
    machine.move_to(EVENING - timedelta(days=300) + timedelta(minutes=11))
    await _until(lambda: len(looks) == 4)
    assert (await log.last_runs())["poll demo"] == first  # nothing was new: nothing to tell
    assert workshop.built == []
    await scheduler.stop()


async def test_a_start_catches_up_what_is_old_and_a_second_start_finds_it_fresh(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, make: Callable[..., Scheduler]
) -> None:
    for _ in range(2):
        scheduler = make()
        await scheduler.start()
        await _run_of(log, "catch-up")
        await asyncio.sleep(0.1)
        await scheduler.stop()
        assert workshop.built == ["demo"]
    run = (await log.last_runs())["catch-up"]
    assert (run.ok, run.detail["repositories"]) == (True, 0)


async def test_jobs_run_on_time_and_each_run_is_in_the_log(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, make: Callable[..., Scheduler]
) -> None:
    await _fresh(log)
    scheduler = make()
    await scheduler.start()
    await _run_of(log, "catch-up")
    assert workshop.built == []
    for job, at in (("nightly", NIGHT), ("judging", NIGHT + timedelta(hours=2)), ("retention", NIGHT + timedelta(hours=2.5))):
        machine.move_to(at - timedelta(minutes=1))
        await asyncio.sleep(0.1)
        assert job not in await log.last_runs()
        machine.move_to(at)
        await _run_of(log, job)
        run = (await log.last_runs())[job]
        assert run.ok
        assert timedelta(0) <= run.started_at - at < timedelta(seconds=20)
        assert scheduler.next_runs()[job] == at + timedelta(days=1)
    await scheduler.stop()
    assert workshop.built == ["demo"]


async def test_a_clock_set_forward_or_a_machine_that_slept_runs_late_within_the_grace_and_once(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, make: Callable[..., Scheduler]
) -> None:
    await _fresh(log)
    scheduler = make()
    await scheduler.start()
    machine.move_to(NIGHT + timedelta(hours=5, minutes=50))
    await _run_of(log, "nightly")
    await asyncio.sleep(0.1)
    assert workshop.built == ["demo"]
    assert scheduler.next_runs()["nightly"] == NIGHT + timedelta(days=1)
    await scheduler.stop()


async def test_days_that_were_slept_through_are_one_catch_up_not_many_runs(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, make: Callable[..., Scheduler]
) -> None:
    await _fresh(log)
    scheduler = make()
    await scheduler.start()
    await _run_of(log, "catch-up")
    machine.move_to(NIGHT + timedelta(days=9, hours=12))
    await _until(lambda: workshop.built == ["demo"])
    await asyncio.sleep(0.1)
    assert workshop.built == ["demo"]
    assert "nightly" not in await log.last_runs()
    last = await log.last_build("demo")
    assert last is not None
    assert last.cause == "catch-up"
    await scheduler.stop()


async def test_a_clock_set_back_over_the_hour_runs_nothing_twice(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, make: Callable[..., Scheduler]
) -> None:
    await _fresh(log)
    scheduler = make()
    await scheduler.start()
    machine.move_to(NIGHT)
    await _run_of(log, "nightly")
    machine.move_to(NIGHT - timedelta(hours=1))
    await asyncio.sleep(0.1)
    machine.move_to(NIGHT)
    await asyncio.sleep(0.3)
    assert workshop.built == ["demo"]
    machine.move_to(NIGHT + timedelta(days=1))
    await _until(lambda: workshop.built == ["demo", "demo"])
    await scheduler.stop()


@pytest.mark.parametrize("month", [3, 10])
async def test_the_hosts_summer_time_neither_skips_nor_repeats_a_night(
    log: AnswerLog,
    machine: time_machine.Traveller,
    workshop: Workshop,
    make: Callable[..., Scheduler],
    monkeypatch: pytest.MonkeyPatch,
    month: int,
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    change = datetime(2026, 3, 29, 1, tzinfo=UTC) if month == 3 else datetime(2026, 10, 25, 1, tzinfo=UTC)
    try:
        machine.move_to(change - timedelta(hours=12))
        await _fresh(log)
        scheduler = make(nightly="30 0 * * *")  # 01:30 before, 02:30 after: the hour that is skipped in spring and comes twice in autumn
        await scheduler.start()
        for night in range(3):
            at = change + timedelta(days=night, minutes=-30)
            for minutes in (-60, 0, 30, 60, 90, 120):
                machine.move_to(at + timedelta(minutes=minutes, seconds=1))
                await asyncio.sleep(0.06)
            await _built(workshop, night + 1)
        await scheduler.stop()
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_a_failure_is_in_the_log_with_its_reason_told_once_and_the_next_night_comes(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, listener: Listener, make: Callable[..., Scheduler]
) -> None:
    await _fresh(log)
    workshop.errors["demo"] = CloneFailed("demo is gone.", "Look for it.")
    scheduler = make()
    await scheduler.start()
    machine.move_to(NIGHT)
    await _run_of(log, "nightly")
    run = (await log.last_runs())["nightly"]
    assert (run.ok, run.reason, run.detail["failed"]) == (False, "demo: demo is gone. Look for it.", 1)
    assert len(listener.alerts) == 1
    workshop.errors.clear()
    machine.move_to(NIGHT + timedelta(days=1))
    await _until(lambda: len(workshop.built) == 2)
    await asyncio.sleep(0.1)
    assert (await log.last_runs())["nightly"].ok
    assert len(listener.alerts) == 1
    await scheduler.stop()


async def test_a_job_that_breaks_is_recorded_and_stays_scheduled(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, listener: Listener
) -> None:
    def broken() -> list[object]:
        raise ZeroDivisionError("xoxb-secret")

    settings = ScheduleSettings()
    builds = Builds(workshop.rebuild, log, listener)
    nightly = Nightly(broken, builds, log)  # type: ignore[arg-type]
    scheduler = Scheduler(settings, log, builds, nightly, None, Retention(log, 90), heartbeat=0.03)
    await scheduler.start()
    assert set(scheduler.next_runs()) == {"nightly", "retention"}
    machine.move_to(NIGHT)
    await _run_of(log, "nightly")
    run = (await log.last_runs())["nightly"]
    assert (run.ok, run.reason) == (False, "Unexpected ZeroDivisionError; the program's log has the rest.")
    assert scheduler.next_runs()["nightly"] == NIGHT + timedelta(days=1)
    await scheduler.stop()


async def test_a_stop_ends_the_build_that_runs_and_says_so(
    log: AnswerLog, machine: time_machine.Traveller, workshop: Workshop, listener: Listener, make: Callable[..., Scheduler]
) -> None:
    workshop.seconds = 60.0
    scheduler = make()
    await scheduler.start()
    await _until(lambda: scheduler.building() == ["demo"] and workshop.at_work == 1)
    started = time.monotonic()
    await scheduler.stop()
    assert time.monotonic() - started < 30
    assert workshop.ended_early == ["demo"]
    build, run = await log.last_build("demo"), (await log.last_runs())["catch-up"]
    assert build is not None
    assert "stopped with Footnote" in build.error
    assert not run.ok
    assert "topped with Footnote" in run.reason
    assert listener.alerts == []


def test_a_bad_cron_expression_is_refused_before_anything_runs(make: Callable[..., Scheduler]) -> None:
    with pytest.raises(ConfigurationError, match=r"schedule\.judging"):
        make(judging="at four")
