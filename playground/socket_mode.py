"""Socket Mode: connections of the app, envelopes over them, acknowledgements, retries."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import WSMsgType, web

from playground import limits
from playground.errors import SlackError
from playground.faults import Faults
from playground.model import Json
from playground.workspace import Change, Workspace

logger = logging.getLogger(__name__)
EnvelopeType = Literal["events_api", "slash_commands", "interactive"]


@dataclass(slots=True)
class Delivery:
    """One thing sent to the app. `acknowledged`: some attempt was; `response`: what came with it; `given_up`: no attempt is left."""

    type: EnvelopeType
    payload: Json
    attempts: int = 0
    acknowledged: bool = False
    given_up: bool = False
    response: Json | None = None
    failures: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.acknowledged or self.given_up


class Connection:
    """One WebSocket of the app. A silent one stays open, and neither delivers nor answers pings."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.silent = False
        self.retiring = False
        self.received = 0


class Sockets:
    """All connections. `ack_seconds` and `retry_delays` are Slack's unless a test is in a hurry."""

    def __init__(
        self,
        workspace: Workspace,
        faults: Faults,
        *,
        url: Callable[[], str],
        ack_seconds: float = limits.ACK_SECONDS,
        retry_delays: tuple[float, ...] = limits.RETRY_DELAYS,
    ) -> None:
        self.connections: list[Connection] = []
        self.deliveries: list[Delivery] = []
        self.ack_seconds = ack_seconds
        self.retry_delays = retry_delays
        self._workspace = workspace
        self._faults = faults
        self._url = url
        self._tickets: dict[str, float] = {}
        self._waiting: dict[str, asyncio.Future[Json | None]] = {}
        self._connected = asyncio.Event()
        self._closing: set[asyncio.Future[bool]] = set()
        self._turn = itertools.count()
        self._envelopes = itertools.count(1)

    # connecting

    def open(self) -> str:
        """A WebSocket address for one connection within 30 s. Raises: SlackError too_many_websockets."""
        if len(self.connections) >= limits.SOCKET_CONNECTIONS:
            raise SlackError("too_many_websockets")
        now = self._workspace.clock()
        self._tickets = {ticket: until for ticket, until in self._tickets.items() if until > now}
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = now + limits.TICKET_SECONDS
        return f"{self._url().replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={self._workspace.bot.app_id}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """GET /link/: one connection until either side closes it."""
        until = self._tickets.pop(request.query.get("ticket", ""), 0.0)
        if until <= self._workspace.clock():
            return web.Response(status=403, text="This ticket is unknown, used or too old: call apps.connections.open.")
        socket = web.WebSocketResponse(autoping=False, max_msg_size=1 << 20)
        await socket.prepare(request)
        connection = Connection(socket)
        self.connections.append(connection)
        try:
            await socket.send_json(self._hello())
            self._connected.set()
            self._workspace.tell(Change("connected"))
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(message.data)
                elif message.type is WSMsgType.PING and not connection.silent:
                    await socket.pong(message.data)
        except ConnectionError:
            logger.info("playground: an app's connection broke")
        finally:
            self.connections.remove(connection)
            if not self.connections:
                self._connected.clear()
            self._workspace.tell(Change("connected"))
        return socket

    def _hello(self) -> Json:
        app = {"app_id": self._workspace.bot.app_id}
        debug = {"host": "playground", "build_number": 1, "approximate_connection_time": 18060}
        return {"type": "hello", "num_connections": len(self.connections), "connection_info": app, "debug_info": debug}

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to make way for a new one: no more envelopes on it, and closed after the ack time."""
        for connection in list(self.connections):
            connection.retiring = True
            await connection.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "playground"}})
            asyncio.get_running_loop().call_later(self.ack_seconds, self._close_soon, connection.socket)

    def _close_soon(self, socket: web.WebSocketResponse) -> None:
        task = asyncio.ensure_future(socket.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close every connection without a word."""
        await asyncio.gather(*(connection.socket.close() for connection in list(self.connections)))

    def silence(self, silent: bool = True) -> None:
        """Make today's connections seem open and be dead, or wake them."""
        for connection in self.connections:
            connection.silent = silent

    # sending

    async def deliver(self, delivery: Delivery, *, retry: bool) -> Delivery:
        """Send until it is acknowledged or no attempt is left. Only events are retried."""
        self.deliveries.append(delivery)
        delays = self.retry_delays if retry else ()
        for number, delay in enumerate((None, *delays)):
            if delay is not None:
                await asyncio.sleep(delay)
            if await self._attempt(delivery, number):
                break
        delivery.given_up = not delivery.acknowledged
        self._workspace.tell(Change("acknowledged"))
        return delivery

    async def _attempt(self, delivery: Delivery, number: int) -> bool:
        delivery.attempts += 1
        envelope: dict[str, Any] = {
            "envelope_id": f"{next(self._envelopes):08x}-{secrets.token_hex(6)}",
            "type": delivery.type,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.type != "events_api",
        }
        if delivery.type == "events_api":
            envelope |= {"retry_attempt": number, "retry_reason": delivery.failures[-1] if delivery.failures else ""}
        answer: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = answer
        try:
            async with asyncio.timeout(self.ack_seconds):
                connection = await self._connection()
                if not connection.silent:
                    await connection.socket.send_json(envelope)
                    connection.received += 1
                delivery.response = await answer
                delivery.acknowledged = True
        except TimeoutError:
            delivery.failures.append("timeout" if self.connections else "no_connection")
        except (ConnectionError, RuntimeError):
            delivery.failures.append("connection_failed")
        finally:
            self._waiting.pop(envelope["envelope_id"], None)
        return delivery.acknowledged

    async def _connection(self) -> Connection:
        """Connections take turns; a retiring one gets nothing new while there is another."""
        await self._connected.wait()
        willing = [connection for connection in self.connections if not connection.retiring] or self.connections
        return willing[next(self._turn) % len(willing)]

    def _take(self, text: str) -> None:
        """An acknowledgement from the app."""
        try:
            message = json.loads(text)
        except ValueError:
            return
        if not isinstance(message, dict) or self._faults.take_lost_ack():
            return
        answer = self._waiting.get(str(message.get("envelope_id")))
        if answer is not None and not answer.done():
            payload = message.get("payload")
            answer.set_result(payload if isinstance(payload, dict) and payload else None)
