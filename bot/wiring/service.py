"""Builds what serves people when nobody runs a command, from what answers: the bot in Slack, the scheduler, the port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from bot import inbox
from bot.http import deliveries
from bot.http.server import HttpServer
from bot.http.webhooks import Webhooks
from bot.inbox import FloodLimits
from bot.parts import Parts
from bot.services import BotServices, BotSettings, ReplySettings, RepositoryStatus
from bot.settings import Settings, listening_on, seconds_of
from bot.slack_service import SlackService
from rag import answer_log
from rag.errors import ConfigurationError, FootnoteError
from rag.evaluation.judge import Judge
from rag.index.generation import repository_directory
from rag.index.layout import Layout
from rag.source.mirror import Mirror
from rag.types import Repository
from scheduler import Announcer, Faults, Judging, Nightly, Polling, Pushes, Retention, ScheduleSettings
from scheduler import Builds as ScheduledBuilds
from scheduler.jobs import Scheduler

logger = logging.getLogger(__name__)
SHORTEST_SECRET = 16  # characters
LONGEST_LOOK = 20.0  # seconds for asking a source for its newest commit: a stop waits for it


def slack_service(parts: Parts, bot: BotSettings, known: Callable[[], Sequence[Repository]]) -> SlackService:
    """The bot in one workspace, which hears of the repositories that `known` gives."""

    async def status(name: str) -> RepositoryStatus:
        last = await parts.log.last_build(name)
        failed = last.finished_at if last is not None and not last.ok else None
        building = next((build.stage for build in parts.builds.running() if build.repository == name), "")
        try:
            info = await asyncio.to_thread(parts.indexes.for_name(name).info)
        except FootnoteError:
            info = None
        if info is None:
            return RepositoryStatus(name, building=building, failed=failed)
        return RepositoryStatus(name, info.commit, info.built_at, info.chunks, info.dense_ready, building, failed, info.notices)

    return SlackService(
        BotServices(
            settings=bot,
            database=parts.database,
            log=parts.log,
            pipeline=parts.pipeline,
            repositories=known,
            status=status,
            channels={channel.id: channel.repository for channel in parts.settings.channels},
        )
    )


def bot_settings(settings: Settings, *, bot_token: str, app_token: str, base_url: str) -> BotSettings:
    own = settings.slack
    return BotSettings(
        bot_token=bot_token,
        app_token=app_token,
        base_url=base_url,
        at_once=own.at_once,
        history=settings.answers.history_turns,
        flood=FloodLimits(per_user=own.questions_per_minute, window=60.0),
        reply=ReplySettings(stream=own.stream),
    )


def build_scheduler(parts: Parts, announcer: Announcer, known: Callable[[], Sequence[Repository]]) -> tuple[Scheduler, Pushes]:
    """The clockwork, and what takes pushes; both build through one door. Raises: ConfigurationError for a cron expression that is none."""
    own = parts.settings.schedule
    settings = ScheduleSettings(
        nightly=own.nightly,
        nightly_jitter=own.nightly_jitter,
        parallel_builds=own.parallel_builds,
        judging=own.judging,
        judge_share=own.judge_share,
        judge_alert_below=own.judge_alert_below,
        retention=own.retention,
        retention_days=own.retention_days,
        stale_hours=own.stale_hours,
        misfire_hours=own.misfire_hours,
    )
    builds = ScheduledBuilds(
        parts.builds.run,
        parts.log,
        announcer,
        timeout=settings.build_timeout,
        parallel=settings.parallel_builds,
        faults=Faults(parts.database, answer_log.utc_now),
    )
    pushes = Pushes(builds)
    judging = None
    if parts.settings.groq_api_key.get_secret_value():
        judging = Judging(parts.log, Judge(parts.model), lambda name: _leaves(name, known()), announcer, settings)
    nightly = Nightly(known, builds, parts.log, stale_hours=settings.stale_hours, fits=parts.fits)
    retention = Retention(
        parts.log,
        settings.retention_days,
        {
            "inbox": inbox.Inbox(parts.database, answer_log.utc_now, FloodLimits()).purge,
            "webhooks": deliveries.Deliveries(parts.database, answer_log.utc_now).purge,
        },
    )
    every = {one.name: float(seconds_of(one.poll)) for one in parts.settings.repositories if one.poll}
    polling = Polling(known, every, _newest(parts), parts.log, pushes)
    return Scheduler(settings, parts.log, builds, nightly, judging, retention, polling), pushes


def _newest(parts: Parts) -> Callable[[Repository], Awaitable[str]]:
    settings = parts.settings

    def newest(repository: Repository) -> str:
        mirror = Mirror(
            Layout(repository_directory(parts.directory.path, repository.name)).mirror,
            token=settings.git_token.get_secret_value(),
            private_hosts=settings.private_hosts,
            timeout=LONGEST_LOOK,
        )
        return mirror.newest(repository)

    return lambda repository: asyncio.to_thread(newest, repository)


def http_server(parts: Parts, pushes: Pushes, healthy: Callable[[], bool], known: Callable[[], Sequence[Repository]]) -> HttpServer | None:
    """What listens on `http.listen`; None where nothing should. `healthy`: whether Slack is connected.

    Raises: ConfigurationError for a secret that can be guessed.
    """
    own = parts.settings.http
    host, port = listening_on(own.listen)
    if not host:
        return None
    secret = parts.settings.webhook_secret.get_secret_value()
    if secret and len(secret) < SHORTEST_SECRET:
        raise ConfigurationError(f"FOOTNOTE_WEBHOOK_SECRET has fewer than {SHORTEST_SECRET} characters.", "Make one: openssl rand -hex 32")
    if not secret:
        logger.warning("no webhook is taken: FOOTNOTE_WEBHOOK_SECRET is not set")

    async def health() -> dict[str, bool]:
        try:
            async with asyncio.timeout(5.0):
                answers = await parts.database.read(lambda db: db.conn.execute("SELECT 1").fetchone() is not None)
        except (FootnoteError, TimeoutError):
            answers = False
        return {"slack": healthy(), "database": answers}

    taken = deliveries.Deliveries(parts.database, answer_log.utc_now)
    webhooks = Webhooks(secret, known, taken, pushes, max_body=own.max_body_bytes) if secret else None
    return HttpServer(host, port, health, webhooks)


async def resume_pushes(parts: Parts, pushes: Pushes, known: Callable[[], Sequence[Repository]]) -> None:
    """Builds what was pushed, as a webhook told, and was not built before the process ended."""
    newest = await deliveries.Deliveries(parts.database, answer_log.utc_now).newest()
    for repository in known():
        if repository.name in newest:
            last = await parts.log.last_build(repository.name, good=True)
            if last is None or last.started_at < newest[repository.name]:
                pushes.pushed(repository)


def _leaves(name: str, known: Sequence[Repository]) -> bool:
    """Whether this repository's code may leave the machine."""
    return any(repository.name == name and repository.generator != "extractive" for repository in known)
