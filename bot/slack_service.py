"""The bot's life in one Slack workspace: who am I, connect, resume, stay connected, stop."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.access import Doorkeeper
from bot.app import build_app
from bot.channels import Channels
from bot.desk import Desk
from bot.inbox import Inbox
from bot.services import BotServices, Identity
from bot.web import TOKEN_ERRORS, SlackError, SlackRefused, SlackWeb
from rag.errors import ConfigurationError

log = logging.getLogger(__name__)


class SlackService:
    """`start` returns once the socket stands; `stop` within 20 seconds, with every question answered or left in the inbox."""

    def __init__(self, services: BotServices) -> None:
        settings = services.settings
        self._services = services
        base_url = settings.base_url.rstrip("/") + "/"
        self.web = SlackWeb(settings.bot_token, base_url, timeout=settings.request_timeout)
        self._socket_web = AsyncWebClient(base_url=base_url, timeout=int(settings.request_timeout), retry_handlers=[])
        self._direct = _is_loopback(base_url)
        if self._direct:  # a proxy of the environment cannot reach this machine's own ports
            self.web.client.proxy = None
            self._socket_web.proxy = None
        self._app: AsyncApp | None = None
        self._handler: AsyncSocketModeHandler | None = None
        self._background: list[asyncio.Task[None]] = []
        self._alive_at = 0.0
        self.desk: Desk | None = None

    async def start(self) -> None:
        """Raises: ConfigurationError for a token that Slack refuses, SlackError where Slack cannot be reached."""
        services = self._services
        await self.web.open()
        try:
            identity = await self._who_am_i()
            await self._check_app_token()
            inbox = Inbox(services.database, services.clock, services.settings.flood)
            channels = Channels(services.database, services.clock, services.channels)
            doorkeeper = Doorkeeper(self.web, identity.team, identity.enterprise)
            self.desk = Desk(services, self.web, identity, inbox, channels, doorkeeper)
            self._app = build_app(self.desk)
            await self._connect()
            resumed = await self.desk.resume()
        except BaseException:
            await self.stop()
            raise
        self._background = [
            asyncio.create_task(self.desk.keep_resuming(), name="resume unfinished questions"),
            asyncio.create_task(self._watch(), name="watch the socket"),
        ]
        log.info("connected to Slack; %d unfinished questions resumed", resumed)

    async def stop(self) -> None:
        """Takes in nothing more, finishes what it can, leaves the rest in the inbox. Safe to call twice."""
        for task in self._background:
            task.cancel()
        if self._background:
            await asyncio.wait(self._background, timeout=2.0)
        self._background = []
        await self._disconnect()
        if self.desk is not None:
            left = await self.desk.drain(max(1.0, self._services.settings.stop_timeout - 8.0))
            if left:
                log.warning("%d questions are left for the next start", left)
            self.desk = None
        await self.web.close()

    @property
    def healthy(self) -> bool:
        """Whether the socket showed life lately."""
        return self._handler is not None and asyncio.get_running_loop().time() - self._alive_at < self._services.settings.reconnect_after

    async def _who_am_i(self) -> Identity:
        try:
            me = await self.web.call("auth.test", repeatable=True)
        except SlackRefused as refusal:
            raise _bad_token("bot", "SLACK_BOT_TOKEN", "xoxb-", refusal) from None
        return Identity(
            team=str(me.get("team_id") or ""),
            enterprise=str(me.get("enterprise_id") or ""),
            user=str(me.get("user_id") or ""),
            bot=str(me.get("bot_id") or ""),
        )

    async def _check_app_token(self) -> None:
        """The SDK would try a bad app token for ever."""
        try:
            await self.web.call("apps.connections.open", {"app_token": self._services.settings.app_token}, repeatable=True)
        except SlackRefused as refusal:
            raise _bad_token("app-level", "SLACK_APP_TOKEN", "xapp-", refusal) from None

    async def _connect(self) -> None:
        if self._app is None:
            return
        handler = AsyncSocketModeHandler(
            self._app, self._services.settings.app_token, web_client=self._socket_web, ping_interval=self._services.settings.ping_interval
        )
        if self._direct:
            handler.client.proxy = None
        try:
            async with asyncio.timeout(self._services.settings.request_timeout * 2):
                await handler.connect_async()  # type: ignore[no-untyped-call]
        except TimeoutError:
            await _close(handler)
            raise SlackError("The socket to Slack does not open.", "Check the network and that Socket Mode is on for the app.") from None
        self._handler = handler
        self._alive_at = asyncio.get_running_loop().time()

    async def _disconnect(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            await _close(handler)

    async def _watch(self) -> None:
        """A socket that shows no life is replaced by a new one, all of it: the SDK has been seen to keep reconnecting a dead session."""
        loop = asyncio.get_running_loop()
        limit = self._services.settings.reconnect_after
        while True:
            await asyncio.sleep(min(5.0, limit / 4))
            if self._handler is not None and await self._handler.client.is_connected():
                self._alive_at = loop.time()
            elif loop.time() - self._alive_at >= limit:
                log.error("the socket to Slack has been dead for %.0f s; opening a new one", loop.time() - self._alive_at)
                await self._disconnect()
                try:
                    await self._connect()
                except SlackError as failure:
                    log.error("%s", failure.problem)


async def _close(handler: AsyncSocketModeHandler) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(4.0):
            await handler.close_async()  # type: ignore[no-untyped-call]


def _bad_token(kind: str, variable: str, prefix: str, refusal: SlackRefused) -> ConfigurationError | SlackRefused:
    if refusal.error not in TOKEN_ERRORS:
        return refusal
    return ConfigurationError(
        f"Slack refuses the {kind} token ({refusal.error}).",
        f"Set {variable} to the {prefix}… token of the installed app; `footnote doctor` checks it.",
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
