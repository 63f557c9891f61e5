"""The Slack Web API with a time limit on everything, and three ways to fail: refused, busy, and not knowing.

The SDK's own retries are off: it repeats a POST whose connection broke, although Slack may have taken it, and then a message
stands there twice. Here a call is repeated only where Slack surely did not take it, or where taking it twice changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from rag.errors import FootnoteError

log = logging.getLogger(__name__)

TOKEN_ERRORS = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type", "missing_scope"}
)
"""What the operator has to mend: the same call succeeds afterwards."""

_BUSY = frozenset({"ratelimited", "rate_limited"})
_SERVER_SIDE = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"})


class SlackError(FootnoteError):
    """A Web API call did not succeed. `error` is Slack's own code where it gave one."""

    def __init__(self, problem: str, remedy: str = "", error: str = "") -> None:
        super().__init__(problem, remedy)
        self.error = error


class SlackRefused(SlackError):
    """Slack took the call and said no: repeating it gives the same."""


class SlackBusy(SlackError):
    """Rate limited for longer than the call may wait. It was not taken. `after`: seconds that Slack asks to wait."""

    def __init__(self, method: str, after: float) -> None:
        super().__init__(f"Slack limits {method} for another {after:.0f} s.", "It is tried again later.", "ratelimited")
        self.after = after


class SlackUncertain(SlackError):
    """Nobody knows whether Slack took it: a timeout, a broken connection, a server error."""


class SlackWeb:
    """`call("chat.postMessage", {"channel": …})` through slack_sdk, one HTTP session for all calls.

    `timeout`: seconds for one request. `patience`: seconds that one call may spend, waits for rate limits and repeats included.
    """

    def __init__(self, token: str, base_url: str, *, timeout: float = 10.0, patience: float = 30.0) -> None:
        self._timeout = timeout
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None
        self.client = AsyncWebClient(token=token, base_url=base_url, timeout=int(timeout), retry_handlers=[])

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._timeout))
        self.client.session = self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(
        self, method: str, arguments: Mapping[str, Any] | None = None, /, *, repeatable: bool = False, patience: float | None = None
    ) -> Mapping[str, Any]:
        """One Web API call. `repeatable`: doing it twice is the same as doing it once, so a doubtful failure is tried again.

        Raises: SlackRefused, SlackBusy, SlackUncertain.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self._patience if patience is None else patience)
        pause = 0.2
        while True:
            try:
                return await self._once(method, arguments or {})
            except SlackBusy as busy:
                wait = busy.after
                if loop.time() + wait > deadline:
                    raise
            except _NotSent:
                wait = pause
                if loop.time() + wait > deadline:
                    raise SlackUncertain(f"Slack cannot be reached for {method}.", "Check the network and the base URL.") from None
            except SlackUncertain:
                wait = pause
                if not repeatable or loop.time() + wait > deadline:
                    raise
            pause = min(pause * 2, 5.0)
            await asyncio.sleep(wait)

    async def _once(self, method: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        send = getattr(self.client, method.replace(".", "_"))
        try:
            async with asyncio.timeout(self._timeout):
                response = await send(**arguments)
        except SlackApiError as failure:
            raise _as_error(method, failure) from None  # its message holds the response, which may hold what was asked
        except aiohttp.ClientConnectorError:
            raise _NotSent from None
        except (aiohttp.ClientError, TimeoutError, OSError) as failure:
            raise SlackUncertain(f"{method} broke off: {type(failure).__name__}.", "It is checked and tried again.") from None
        data = response.data
        return data if isinstance(data, dict) else {}


class _NotSent(Exception):
    """No connection came about, so the call was not taken."""


def _as_error(method: str, failure: SlackApiError) -> SlackError:
    response = failure.response
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    headers = getattr(response, "headers", None) or {}
    data = getattr(response, "data", None)
    code = str(data.get("error") or "") if isinstance(data, dict) else ""
    if status == 429 or code in _BUSY:
        after = headers.get("Retry-After") or headers.get("retry-after") or "1"
        return SlackBusy(method, float(after) if str(after).isdigit() else 1.0)
    if status >= 500 or not code or code in _SERVER_SIDE:
        return SlackUncertain(f"Slack failed at {method} (HTTP {status}).", "It is checked and tried again.", code)
    return SlackRefused(f"Slack refused {method}: {code}.", "See that error in Slack's documentation of the method.", code)
