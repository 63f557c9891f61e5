"""The playground: a Slack-shaped workspace on localhost, for people through its page and for tests through this class."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from aiohttp import web

from playground import limits
from playground.acting import Acting
from playground.events import envelope, events_of
from playground.faults import Faults
from playground.feed import Feeds
from playground.guard import add_security_headers, make_guard
from playground.interactions import Interactions
from playground.methods import Platform
from playground.model import Channel, Person
from playground.page import Page, ReadSource
from playground.rates import RateLimits
from playground.responses import Responses
from playground.socket_mode import Delivery, Sockets
from playground.web_api import RecordedCall, WebApi
from playground.workspace import Change, Workspace

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Playground(Acting):
    """A workspace, its Web API under `api_url`, Socket Mode, and the page under `url`. An async context manager.

    `read_source(repository, commit, path)` returns a file's text for the citation panel; whatever it raises is shown to the reader.
    `clock` returns seconds since 1970 and rules timestamps and lifetimes (streams, triggers, response URLs, rate limits).
    `rate_limits`: calls a minute per method, Slack's own by default for the streaming methods. `ack_seconds`, `retry_delays`: real
    seconds that Socket Mode waits for an acknowledgement, and before each retry. `faults` makes things fail, `calls` is what the app
    called, `sockets.deliveries` what it was sent.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        bot_token: str = "xoxb-playground",  # noqa: S107 - opens nothing but this
        app_token: str = "xapp-playground",  # noqa: S107
        read_source: ReadSource | None = None,
        commands: Sequence[str] = ("/repo",),
        clock: Callable[[], float] = time.time,
        people: Sequence[Person] | None = None,
        channels: Sequence[Channel] | None = None,
        rate_limits: Mapping[str, int] = limits.METHOD_TIERS,
        ack_seconds: float = limits.ACK_SECONDS,
        retry_delays: tuple[float, ...] = limits.RETRY_DELAYS,
    ) -> None:
        self.host = host
        self.port = port
        self.bot_token = bot_token
        self.app_token = app_token
        self.commands = tuple(commands)
        self.faults = Faults()
        workspace = Workspace(clock, people, channels)
        interactions = Interactions(workspace, lambda: self.url)
        sockets = Sockets(workspace, self.faults, url=lambda: self.url, ack_seconds=ack_seconds, retry_delays=retry_delays)
        responses = Responses(workspace, interactions)
        super().__init__(workspace, interactions, sockets, responses)
        platform = Platform(workspace, interactions, sockets.open, lambda: self.url)
        self._api = WebApi(platform, bot_token=bot_token, app_token=app_token, faults=self.faults, rates=RateLimits(rate_limits, clock))
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._page = Page(self, Feeds(workspace, interactions, sockets, self.commands), read_source)
        workspace.listeners.append(self._heard)

    # running

    @property
    def url(self) -> str:
        """The workspace's address, without a trailing slash."""
        return f"http://{self.host}:{self.port}"

    @property
    def api_url(self) -> str:
        """What an `AsyncWebClient` takes as `base_url`."""
        return f"{self.url}/api/"

    @property
    def calls(self) -> list[RecordedCall]:
        """Every Web API call so far, oldest first."""
        return self._api.calls

    @property
    def deliveries(self) -> list[Delivery]:
        """Everything sent to the app so far, oldest first."""
        return self.sockets.deliveries

    async def start(self) -> None:
        """Listen; `port` 0 becomes the port that was free. Raises: OSError if the port is taken."""
        app = web.Application(middlewares=[make_guard(self._known_hosts)], client_max_size=4 << 20)
        app.on_response_prepare.append(add_security_headers)
        app.router.add_route("GET", "/api/{method}", self._api.handle)
        app.router.add_route("POST", "/api/{method}", self._api.handle)
        app.router.add_get("/link/", self.sockets.handle)
        app.router.add_post("/response/{team}/{key}", self._responses.handle)
        self._page.add_to(app)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close every connection and end every delivery that is still being retried."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sockets.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Playground:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _known_hosts(self) -> frozenset[str]:
        return frozenset(f"{name}:{self.port}" for name in (self.host, "127.0.0.1", "localhost"))

    # waiting

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:  # noqa: ASYNC109 - part of the agreed interface
        """The first true value of `predicate()`, asked again after everything that happens.

        Raises: TimeoutError after `timeout` seconds, saying what the app called last.
        """
        try:
            async with asyncio.timeout(timeout):
                while not (found := predicate()):
                    await self._changed.wait()
        except TimeoutError as error:
            last = ", ".join(f"{call.method} -> {call.response.get('error') or call.status}" for call in self.calls[-8:])
            raise TimeoutError(f"not within {timeout} s; the app's last calls: {last or 'none'}") from error
        return found

    async def wait_connected(self, connections: int = 1, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Until the app holds so many Socket Mode connections."""
        await self.wait_for(lambda: len(self.sockets.connections) >= connections, timeout)

    async def wait_settled(self, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Until everything sent to the app is acknowledged or given up."""
        await self.wait_for(lambda: not self._tasks and all(delivery.done for delivery in self.deliveries), timeout)

    # inside

    def _heard(self, change: Change) -> None:
        for event in events_of(change, self.workspace):
            body = envelope(event, self.workspace, self._event_id)
            self._spawn(self.sockets.deliver(Delivery("events_api", body), retry=True))
            fresh = self.faults.take_duplicate(event["type"])
            if fresh is not None:
                again = body | ({"event_id": self._event_id()} if fresh else {})
                self._spawn(self.sockets.deliver(Delivery("events_api", again), retry=True))
        self._wake()

    def _event_id(self) -> str:
        return self.workspace.next_id("Ev")

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("playground: a delivery failed", exc_info=task.exception())
        self._wake()
