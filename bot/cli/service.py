"""What `footnote serve` and `footnote playground` do: own the data directory, answer, schedule, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace

from bot.data_directory import DataDirectory
from bot.logs import configure_logging
from bot.parts import Parts
from bot.settings import Settings
from bot.slack_service import SlackService
from bot.wiring.parts import answering, open_parts
from bot.wiring.service import bot_settings, build_scheduler, http_server, resume_pushes, slack_service
from rag.errors import ConfigurationError, FootnoteError
from rag.index.generation import repository_directory
from rag.index.layout import Layout
from rag.source.mirror import Mirror
from rag.types import Repository

logger = logging.getLogger(__name__)


class ChannelAnnouncer:
    """Alerts go to the log and, where one is named, to a Slack channel."""

    def __init__(self, channel: str) -> None:
        self._channel = channel
        self.service: SlackService | None = None

    async def alert(self, text: str) -> None:
        logger.warning("alert: %s", text)
        if self._channel and self.service is not None:
            await self.service.web.call("chat.postMessage", {"channel": self._channel, "text": text, "unfurl_links": False})


@asynccontextmanager
async def _owned(settings: Settings, purpose: str) -> AsyncIterator[Parts]:
    """The parts, on a data directory that is owned, with other commands answered and the model warm."""
    directory = DataDirectory(settings.data_dir).acquire()
    try:
        async with open_parts(settings, directory, purpose) as parts, answering(parts):
            warming = asyncio.create_task(asyncio.to_thread(parts.embedder.load))
            try:
                yield parts
            finally:
                with suppress(Exception):
                    await warming
    finally:
        directory.release()


async def _run(
    parts: Parts, service: SlackService, announcer: ChannelAnnouncer, known: Callable[[], Sequence[Repository]], *, listen: bool
) -> None:
    """Answers and schedules until SIGINT or SIGTERM. `listen`: on a port too, where one is configured."""
    scheduler, pushes = build_scheduler(parts, announcer, known)
    http = http_server(parts, pushes, lambda: service.healthy, known) if listen else None
    stopping = _stop_signal()
    await service.start()
    announcer.service = service
    try:
        await resume_pushes(parts, pushes, known)
        await scheduler.start()
        parts.next_runs = scheduler.next_runs
        if http is not None:
            await http.start()
        await stopping.wait()
        logger.info("stopping: questions that are being answered get their answers")
    finally:
        parts.next_runs = dict
        if http is not None:
            await http.stop()
        await pushes.stop()
        await service.stop()
        await scheduler.stop()


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    return stopping


async def serve_slack(settings: Settings) -> None:
    """Raises: ConfigurationError where a token or an audience is missing, or Slack refuses a token."""
    bot, app = settings.slack_bot_token.get_secret_value(), settings.slack_app_token.get_secret_value()
    if not bot or not app:
        missing = "SLACK_BOT_TOKEN (xoxb-…)" if not bot else "SLACK_APP_TOKEN (xapp-…)"
        raise ConfigurationError(f"{missing} is not set.", "Make the app from bot/manifest.json; docs/operations.md says how.")
    if not settings.repositories:
        raise ConfigurationError(
            "No repository is configured, so there is nothing to answer about.", "Add [[repositories]] to footnote.toml."
        )
    configure_logging(settings.log_format)
    for repository in settings.repositories:
        if not repository.audience:
            logger.warning("nobody in Slack may hear about %s: it has no audience", repository.name)
    async with _owned(settings, "footnote serve") as parts:
        announcer = ChannelAnnouncer(settings.slack.alert_channel)
        service = slack_service(
            parts, bot_settings(settings, bot_token=bot, app_token=app, base_url=settings.slack.base_url), parts.registry.configured
        )
        await _run(parts, service, announcer, parts.registry.configured, listen=True)


async def serve_playground(settings: Settings, sources: Sequence[str], port: int) -> None:
    """Raises: FootnoteError where a source cannot be indexed, or the port is taken."""
    from playground.server import Playground  # footnote serve does without it

    configure_logging(settings.log_format, level=logging.WARNING)
    async with _owned(settings, "footnote playground") as parts:

        async def read_source(name: str, commit: str, path: str) -> str:
            """Lines for the citation panel, redacted as they were indexed."""
            repository = parts.registry.get(name)
            mirror = Mirror(Layout(repository_directory(parts.directory.path, repository.name)).mirror)
            return (await asyncio.to_thread(mirror.document, commit, path)).text

        workspace = Playground(port=port, read_source=read_source)
        try:
            await workspace.start()
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} cannot be used: {error.strerror}.", "Choose another: --port 0 takes a free one."
            ) from None

        def known() -> tuple[Repository, ...]:
            """Everybody here may hear of every repository, and citations open in the page itself."""
            return tuple(replace(one, audience=("*", "dm"), web=f"{workspace.url}/source/{one.name}") for one in parts.registry.all())

        bot = bot_settings(settings, bot_token=workspace.bot_token, app_token=workspace.app_token, base_url=workspace.api_url)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(workspace.stop)
            builds = await _index(parts, sources)
            stack.push_async_callback(_cancel, builds)
            if not parts.registry.all():
                raise ConfigurationError("There is no repository to ask about.", "Name one: footnote playground PATH_OR_URL")
            sys.stdout.write(f"Open {workspace.url}/ and ask @footnote. Ctrl+C ends it.\n")
            sys.stdout.flush()
            await _run(parts, slack_service(parts, bot, known), ChannelAnnouncer(""), known, listen=False)


async def _index(parts: Parts, sources: Sequence[str]) -> list[asyncio.Task[object]]:
    """Starts indexing each source; returns the builds once each can be asked, which is long before its dense part stands."""
    from bot.cli.retrieving import Progress

    builds: list[asyncio.Task[object]] = []
    for source in sources:
        repository = await asyncio.to_thread(parts.registry.add, source)
        ready = asyncio.Event()
        with Progress() as progress:

            def note(event: object, ready: asyncio.Event = ready, progress: Progress = progress) -> None:
                from bot import wire

                progress.show(wire.plain(event))
                if getattr(event, "stage", "") == "sparse_ready":
                    ready.set()

            task: asyncio.Task[object] = asyncio.create_task(parts.builds.build(repository, cause="playground", on_event=note))
            waiting = asyncio.create_task(ready.wait())
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        if task.done():
            task.result()
        await parts.registry.keep(repository)
        builds.append(task)
    return builds


async def _cancel(builds: Sequence[asyncio.Task[object]]) -> None:
    for build in builds:
        build.cancel()
    for end in await asyncio.gather(*builds, return_exceptions=True):
        if isinstance(end, FootnoteError):
            logger.warning("a build failed: %s", end)
