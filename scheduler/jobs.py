"""Scheduler: the jobs and their times, in UTC, each run kept in the log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from apscheduler.events import EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from rag.answer_log import AnswerLog, JobRun, reason_of, utc_now
from scheduler.builds import Builds
from scheduler.cron import trigger
from scheduler.judging import Judging
from scheduler.nightly import Nightly
from scheduler.polling import Polling
from scheduler.protocols import JobResult
from scheduler.retention import Retention
from scheduler.settings import ScheduleSettings

logger = logging.getLogger(__name__)
Work = Callable[[], Awaitable[JobResult | None]]


class Scheduler:
    """Runs the jobs on the event loop that `start` was called on. Which job ran when is in the log, not in a job store: a start looks
    at the age of each index instead of at what was missed. `judging` None: nobody can judge; `polling` None: no source is looked at.

    Raises: ConfigurationError for a cron expression that is none.
    """

    def __init__(
        self,
        settings: ScheduleSettings,
        log: AnswerLog,
        builds: Builds,
        nightly: Nightly,
        judging: Judging | None,
        retention: Retention,
        polling: Polling | None = None,
        *,
        clock: Callable[[], datetime] = utc_now,
        heartbeat: float = 30.0,
    ) -> None:
        self._log = log
        self._builds = builds
        self._clock = clock
        self._heartbeat = heartbeat
        self._beating: asyncio.Task[None] | None = None
        self._work: dict[str, Work] = {"nightly": nightly.run, "catch-up": nightly.catch_up, "retention": retention.run}
        self._running: set[asyncio.Task[None]] = set()
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            jobstores={"default": MemoryJobStore()},
            job_defaults={"misfire_grace_time": max(1, int(settings.misfire_hours * 3600)), "coalesce": True, "max_instances": 1},
        )
        times = {"nightly": settings.nightly, "retention": settings.retention}
        if judging is not None:
            self._work["judging"] = judging.run
            times["judging"] = settings.judging
        for name, expression in times.items():
            jitter = settings.nightly_jitter if name == "nightly" else 0
            self._scheduler.add_job(self._run, trigger(expression, f"schedule.{name}", jitter), args=[name], id=name)
        self._intervals = {f"poll {name}": seconds for name, seconds in polling.every.items()} if polling is not None else {}
        for name, seconds in self._intervals.items():
            assert polling is not None  # noqa: S101 - there are no intervals without it
            self._work[name] = partial(polling.look, name.removeprefix("poll "))
            self._scheduler.add_job(self._run, IntervalTrigger(seconds=seconds, timezone=UTC), args=[name], id=name)
        self._scheduler.add_listener(self._missed, EVENT_JOB_MISSED)

    async def start(self) -> None:
        """Starts the clockwork, and at once a build of every repository whose index is missing, too old, or not of what is configured."""
        self._scheduler.start()
        self._beating = asyncio.create_task(self._beat(), name="scheduler heartbeat")
        self._catch_up()
        for name in self._intervals:  # what changed while nothing ran
            self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    async def stop(self, within: float = 20.0) -> None:
        """Ends running jobs and builds, within that many seconds. Does nothing where it is not running."""
        if self._beating is None:
            return
        self._beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._beating
        self._beating = None
        await self._builds.stop(within)
        running = set(self._running)
        if running:  # those whose builds have just ended are writing their record down: let them
            _, running = await asyncio.wait(running, timeout=min(2.0, within))
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=within)
        self._scheduler.shutdown(wait=False)
        await asyncio.sleep(0)  # APScheduler ends itself by a callback of the loop

    def next_runs(self) -> dict[str, datetime]:
        """The next run of each job, UTC; empty before `start`."""
        jobs = self._scheduler.get_jobs() if self._scheduler.running else []
        return {job.id: job.next_run_time for job in jobs if job.next_run_time is not None and job.id != "catch-up"}

    def building(self) -> list[str]:
        """Names of the repositories that are being built, or wait for their turn."""
        return self._builds.running()

    async def _beat(self) -> None:
        """APScheduler sleeps until the next job by a clock that stands still while the machine sleeps and knows nothing of a clock that is
        set; looking again every half minute bounds how late a job can be after either."""
        while True:
            await asyncio.sleep(self._heartbeat)
            self._bring_forward()
            self._scheduler.wakeup()

    def _bring_forward(self) -> None:
        """After a clock that was set back, an interval is not waited for until the old time has come again."""
        now = datetime.now(UTC)
        for name, seconds in self._intervals.items():
            job = self._scheduler.get_job(name)
            if job is not None and job.next_run_time is not None and job.next_run_time - now > timedelta(seconds=seconds):
                job.modify(next_run_time=now + timedelta(seconds=seconds))

    def _catch_up(self) -> None:
        self._scheduler.add_job(self._run, args=["catch-up"], id="catch-up", replace_existing=True)

    def _missed(self, event: JobExecutionEvent) -> None:
        """Too late for its run, not too late for its purpose: what is old by now is rebuilt."""
        logger.warning("the job %s missed its run of %s", event.job_id, event.scheduled_run_time)
        if event.job_id == "nightly":
            self._catch_up()

    async def _run(self, name: str) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        self._running.add(task)
        try:
            await self._recorded(name)
        except asyncio.CancelledError:  # APScheduler would print a trace for what `stop` did on purpose
            logger.info("the job %s was stopped before its run was recorded", name)
        finally:
            self._running.discard(task)

    async def _recorded(self, name: str) -> None:
        started = self._clock()
        try:
            result = await self._work[name]()
        except asyncio.CancelledError:
            result = JobResult("Stopped with Footnote.")
        except Exception as error:
            logger.exception("the job %s failed", name)
            result = JobResult(reason_of(error))
        if result is None:
            return
        run = JobRun(name, started, self._clock(), ok=not result.reason, reason=result.reason, detail=result.detail)
        try:
            await self._log.record_run(run)
        except Exception:
            logger.exception("the run of %s could not be recorded", name)
