"""A server shaped like Groq's chat completions, scripted by a test: real HTTP, real server-sent events, and the ways in which they fail.

    async with FakeGroq([Fault(429, retry_after="1"), Reply("Written. [1]")]) as groq:
        GroqSettings(base_url=groq.url)

Each request takes the next step of the script; the last step is repeated. `requests` holds every body received, `keys` every key.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    """Streams `text` in pieces of `size` characters, or what `text` makes of the messages. `finish_reason` None: none is sent.

    `cut_after`: characters after which the connection is dropped. `hang_after`: characters after which nothing more comes.
    `error_after`: characters after which an error event comes. `delay`: seconds between pieces.
    """

    text: str | Callable[[list[dict[str, str]]], str] = "Written. [1]"
    size: int = 4
    finish_reason: str | None = "stop"
    prompt_tokens: int = 100
    completion_tokens: int = 10
    cut_after: int | None = None
    hang_after: int | None = None
    error_after: int | None = None
    delay: float = 0.0
    done: bool = True


@dataclass(frozen=True)
class Fault:
    """Answers with an HTTP status and Groq's error object."""

    status: int
    message: str = "no"
    code: str = ""
    retry_after: str = ""
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """Accepts the request and says nothing."""


Step = Reply | Fault | Hang

_LIMIT = "Rate limit reached for model `m` in organization `org_x` on {}: Limit {}, Used {}, Requested {}. Please try again in {}."
RATE_LIMITS = {
    "tokens per minute": _LIMIT.format("tokens per minute (TPM)", 8000, 7900, 2000, "14.25s"),
    "requests per minute": _LIMIT.format("requests per minute (RPM)", 30, 30, 1, "2s"),
    "tokens per day": _LIMIT.format("tokens per day (TPD)", 100000, 99990, 2000, "28m35.5s"),
    "requests per day": _LIMIT.format("requests per day (RPD)", 1000, 1000, 1, "1h2m3s"),
}
TOO_LARGE = (
    "Request too large for model `m` in organization `org_x` on tokens per minute (TPM): Limit 8000, Requested 32979, "
    "please reduce your message size and try again."
)


def obey(messages: list[dict[str, str]]) -> str:
    """A model that does whatever a file tells it: repeats every line after "AI:", and cites the first excerpt."""
    orders = re.findall(r"AI: (.*)", "\n".join(message["content"] for message in messages))
    return "\n".join(f"{order} [1]" for order in orders) or "Nothing was ordered. [1]"


class FakeGroq:
    """Serves on a loopback port while it is open."""

    def __init__(self, script: Sequence[Step] = (Reply(),)) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._released = asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/openai/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        self.url = ""

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        await self._runner.cleanup()

    @property
    def prompts(self) -> list[str]:
        """All that was sent in each request, as one text."""
        return ["\n".join(message["content"] for message in request["messages"]) for request in self.requests]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("Authorization", ""))
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, Hang):
            await self._released.wait()
            return web.Response(status=503)
        if isinstance(step, Fault):
            headers = {**step.headers, **({"Retry-After": step.retry_after} if step.retry_after else {})}
            body = (
                step.body
                if step.body is not None
                else json.dumps({"error": {"message": step.message, "type": "tokens", "code": step.code}})
            )
            return web.Response(status=step.status, text=body, headers=headers, content_type="application/json")
        return await self._stream(request, step)

    async def _stream(self, request: web.Request, step: Reply) -> web.StreamResponse:
        text = step.text if isinstance(step.text, str) else step.text(self.requests[-1]["messages"])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(delta: dict[str, str], finish: str | None = None, x_groq: dict[str, Any] | None = None) -> None:
            event: dict[str, Any] = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
            if x_groq:
                event["x_groq"] = x_groq
            await response.write(f"data: {json.dumps(event)}\n\n".encode())

        await send({"role": "assistant", "content": ""}, x_groq={"id": "req_1"})
        stops = {step.cut_after: "cut", step.hang_after: "hang", step.error_after: "error"}
        stop = min((at for at in stops if at is not None), default=None)
        shown = text if stop is None else text[:stop]
        for start in range(0, len(shown), step.size):
            await send({"content": shown[start : start + step.size]})
            if step.delay:
                await asyncio.sleep(step.delay)
        what = stops.get(stop) if stop is not None else None
        if what == "hang":
            await self._released.wait()
        if what == "error":
            await response.write(b'data: {"error": {"message": "internal", "type": "server_error"}}\n\n')
            return response
        if what == "cut":
            if request.transport:
                request.transport.abort()
            return response
        if step.finish_reason:
            usage = {"prompt_tokens": step.prompt_tokens, "completion_tokens": step.completion_tokens, "total_tokens": 0}
            await send({}, step.finish_reason, {"id": "req_1", "usage": usage})
        if step.done:
            await response.write(b"data: [DONE]\n\n")
        return response
