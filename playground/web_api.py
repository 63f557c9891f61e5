"""The Web API over HTTP: token, faults, rate limits, then the method; every call is recorded."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from playground.arguments import Arguments, read_arguments
from playground.errors import SlackError
from playground.faults import Fault, Faults
from playground.methods import METHODS, Call, Platform
from playground.model import Json
from playground.rates import RateLimits
from playground.workspace import Change

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RecordedCall:
    """One Web API call: `at` in seconds since 1970, `response` the JSON answer ({} if none was sent), `status` HTTP's (0 if none)."""

    method: str
    arguments: Json
    at: float
    response: Json = field(default_factory=dict)
    status: int = 0

    @property
    def ok(self) -> bool:
        return bool(self.response.get("ok"))


class WebApi:
    """Answers /api/<method>."""

    def __init__(self, platform: Platform, *, bot_token: str, app_token: str, faults: Faults, rates: RateLimits) -> None:
        self.calls: list[RecordedCall] = []
        self._platform = platform
        self._tokens = {"bot": bot_token, "app": app_token}
        self._faults = faults
        self._rates = rates

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """GET or POST /api/{method}."""
        method = request.match_info["method"]
        record = RecordedCall(method, {}, self._platform.workspace.clock())
        self.calls.append(record)
        try:
            return await self._answer(request, method, record)
        finally:
            self._platform.workspace.tell(Change("called", details={"method": method}))

    async def _answer(self, request: web.Request, method: str, record: RecordedCall) -> web.StreamResponse:
        headers: dict[str, str] = {}
        fault: Fault | None = None
        try:
            arguments = await read_arguments(request)
            token = _token(request, arguments)
            record.arguments = dict(arguments.values)
            fault = self._faults.take(method, record.arguments)
            if fault is not None:
                await asyncio.sleep(fault.delay)
            if fault is not None and fault.refuse:
                return self._cut(request)
            if fault is not None and (fault.error or fault.body is not None):
                record.status = fault.status
                if fault.retry_after is not None:
                    headers["Retry-After"] = str(fault.retry_after)
                if fault.body is not None:
                    return web.Response(text=fault.body, status=fault.status, headers=headers, content_type="text/html")
                raise SlackError(fault.error)
            record.status = 200
            wait = self._check(method, token)
            if wait:
                headers["Retry-After"], record.status = str(wait), 429
                raise SlackError("ratelimited")
            record.response = {"ok": True, **METHODS[method][1](Call(self._platform, arguments))}
        except SlackError as error:
            record.response = error.body()
            record.status = record.status or 200
        except Exception:
            logger.exception("playground: %s failed", method)
            record.response, record.status = {"ok": False, "error": "internal_error"}, 500
        if fault is not None and fault.drop:
            return self._cut(request)
        return web.json_response(record.response, status=record.status, headers=headers)

    def _check(self, method: str, token: str) -> int:
        """Seconds to wait for the rate limit. Raises: SlackError for the method or the token."""
        if method not in METHODS:
            raise SlackError("unknown_method", req_method=method)
        kind = METHODS[method][0]
        if not token:
            raise SlackError("not_authed")
        if token not in self._tokens.values():
            raise SlackError("invalid_auth")
        if token != self._tokens[kind]:
            raise SlackError("not_allowed_token_type")
        return self._rates.wait(method)

    @staticmethod
    def _cut(request: web.Request) -> web.Response:
        """Close the connection under the client; what is returned reaches nobody."""
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=502)


def _token(request: web.Request, arguments: Arguments) -> str:
    """From the header, else from the arguments, where it does not stay."""
    given: Any = arguments.values.pop("token", "")
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else str(given)
