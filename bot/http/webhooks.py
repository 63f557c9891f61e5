"""POST /webhooks/github and /webhooks/gitlab: a push that is proven to come from there queues a rebuild of what it changed.

Nothing is believed before the proof: GitHub's HMAC over the raw body, GitLab's token. What is answered are fixed words.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage

from bot.http.deliveries import Deliveries
from bot.http.payloads import Push, github_push, gitlab_push
from bot.http.sources import source_key
from rag.types import Repository

logger = logging.getLogger(__name__)
_DELIVERY = re.compile(r"[A-Za-z0-9-]{8,100}")
_AT_ONCE = 16  # bodies held in memory
_PATIENCE = 5.0  # seconds for a place among them


class PushTaker(Protocol):
    """Has repositories rebuilt."""

    def pushed(self, repository: Repository) -> None:
        """Queues a rebuild that reads what is newest; returns at once."""
        ...


class Refused(Exception):
    """A request that is not served. `words`: fixed, for the one who sent it."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


class Webhooks:
    """The two routes. `known`: the repositories that may be rebuilt; `max_body`: bytes; `read_timeout`: seconds for one body."""

    def __init__(
        self,
        secret: str,
        known: Callable[[], Sequence[Repository]],
        deliveries: Deliveries,
        pushes: PushTaker,
        *,
        max_body: int,
        read_timeout: float = 20.0,
    ) -> None:
        self._secret = secret.encode()
        self._known = known
        self._deliveries = deliveries
        self._pushes = pushes
        self._max_body = max_body
        self._read_timeout = read_timeout
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._warned_at = -60.0

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/webhooks/github", self._in_turn(self._github)), web.post("/webhooks/gitlab", self._in_turn(self._gitlab))]

    def _in_turn(self, handle: Callable[[web.Request], Awaitable[web.Response]]) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def turn(request: web.Request) -> web.Response:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self._places.acquire()
            except TimeoutError:
                raise Refused(503, "Too many requests at once. Send it again in a minute.") from None
            try:
                return await handle(request)
            finally:
                self._places.release()

        return turn

    async def _github(self, request: web.Request) -> web.Response:
        signature = request.headers.get("X-Hub-Signature-256", "")
        if not signature:
            self._warn("GitHub", request)
            raise Refused(401, "X-Hub-Signature-256 is missing: give the webhook a secret.")
        body = await self._body(request)
        if not await asyncio.to_thread(signed, self._secret, body, signature):
            self._warn("GitHub", request)
            raise Refused(401, "X-Hub-Signature-256 does not fit: the secrets differ.")
        event = request.headers.get("X-GitHub-Event", "")
        if event == "ping":
            return web.json_response({"result": "pong"})
        if event != "push":
            return _ignored("Only push events are read.")
        delivery = _delivery(request, "X-GitHub-Delivery")
        return await self._take("github", delivery, signature, await asyncio.to_thread(_parsed, github_push, body))

    async def _gitlab(self, request: web.Request) -> web.Response:
        token = request.headers.get("X-Gitlab-Token", "")
        if not hmac.compare_digest(_bytes(token), self._secret):
            self._warn("GitLab", request)
            raise Refused(401, "X-Gitlab-Token is not the secret.")
        body = await self._body(request)
        if request.headers.get("X-Gitlab-Event", "") != "Push Hook":
            return _ignored("Only push events are read.")
        delivery = _delivery(request, "X-Gitlab-Event-UUID")
        return await self._take("gitlab", delivery, "", await asyncio.to_thread(_parsed, gitlab_push, body))

    async def _take(self, service: str, delivery: str, signature: str, push: Push) -> web.Response:
        meant = [one for one in self._known() if push.sources & {source_key(one.source), source_key(one.web)}]
        if not meant:
            raise Refused(404, "No configured repository has this source.")
        changed = [repository for repository in meant if push.concerns(repository.branch)]
        if not changed:
            return _ignored("It changes no branch that is read.")
        names = [repository.name for repository in changed]
        if not await self._deliveries.accept(service, delivery, signature, names):
            raise Refused(409, "This delivery was taken before.")
        for repository in changed:
            self._pushes.pushed(repository)
        logger.info("a push of %s was told by %s", ", ".join(names), service)
        return web.json_response({"result": "queued", "repositories": names}, status=202)

    async def _body(self, request: web.Request) -> bytes:
        if request.content_type != "application/json" or request.headers.get("Content-Encoding", "identity") != "identity":
            raise Refused(415, "The content type must be application/json, uncompressed.")
        if request.content_length is not None and request.content_length > self._max_body:
            raise Refused(413, f"The body is larger than {self._max_body} bytes.")
        try:
            async with asyncio.timeout(self._read_timeout):
                pieces = bytearray()
                async for piece in request.content.iter_any():
                    pieces += piece
                    if len(pieces) > self._max_body:
                        raise Refused(413, f"The body is larger than {self._max_body} bytes.")
                return bytes(pieces)
        except TimeoutError:
            raise Refused(408, "The body did not come in time.") from None
        except (web.RequestPayloadError, BadHttpMessage):
            raise Refused(400, "The body is broken.") from None

    def _warn(self, service: str, request: web.Request) -> None:
        """Once a minute at most: whoever can reach the port could fill the disk with lines."""
        now = time.monotonic()
        if now - self._warned_at >= 60.0:
            self._warned_at = now
            logger.warning("a webhook that is not proven to come from %s was refused; it came from %s", service, request.remote)


def signed(secret: bytes, body: bytes, signature: str) -> bool:
    """Whether `signature` ("sha256=" and 64 hexadecimal digits) is that of the raw body. Takes the same time wherever it differs."""
    return hmac.compare_digest(_bytes(signature), b"sha256=" + hmac.digest(secret, body, hashlib.sha256).hex().encode())


def _bytes(header: str) -> bytes:
    return header.encode("utf-8", "surrogateescape")


def _delivery(request: web.Request, header: str) -> str:
    delivery = request.headers.get(header, "")
    if not _DELIVERY.fullmatch(delivery):
        raise Refused(400, f"{header} is missing or is no id.")
    return delivery.lower()


def _parsed(parse: Callable[[bytes], Push], body: bytes) -> Push:
    try:
        return parse(body)
    except ValueError:
        raise Refused(400, "The body is no push event.") from None


def _ignored(why: str) -> web.Response:
    """200, not 4xx: GitLab switches a webhook off that is often refused."""
    return web.json_response({"result": "ignored", "why": why})
