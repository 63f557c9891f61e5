"""What rerankers talk to in tests: a rerank server over real HTTP, and a language model with a script."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Answer = Callable[[dict[str, Any]], web.Response]


@dataclass
class FakeRerankServer:
    """`answer`: what a request's JSON is answered with; `delay`: seconds before. `requests`: (path, headers, JSON) of what came."""

    answer: Answer
    delay: float = 0.0
    url: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        read = await request.json()
        self.requests.append((request.path, dict(request.headers), read))
        await asyncio.sleep(self.delay)
        return self.answer(read)


@asynccontextmanager
async def rerank_server(answer: Answer, *, delay: float = 0.0) -> AsyncIterator[FakeRerankServer]:
    """Answers every POST on a loopback port."""
    fake = FakeRerankServer(answer, delay)
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/{path:.*}", fake.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        await runner.cleanup()


def shared_words(question: str, text: str) -> float:
    """How many of the question's words a text holds: what the fakes mark by."""
    words = set(re.findall(r"\w+", question.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / (len(words) or 1)


def like_cohere(read: dict[str, Any]) -> web.Response:
    """Best first, as Cohere has it."""
    scored = [(index, shared_words(read["query"], text)) for index, text in enumerate(read["documents"])]
    scored.sort(key=lambda item: -item[1])
    return web.json_response({"id": "1", "results": [{"index": index, "relevance_score": score} for index, score in scored], "meta": {}})


def like_tei(read: dict[str, Any]) -> web.Response:
    scored = [(index, shared_words(read["query"], text)) for index, text in enumerate(read["texts"])]
    scored.sort(key=lambda item: -item[1])
    return web.json_response([{"index": index, "score": score} for index, score in scored])


def parts_of(user: str) -> tuple[str, str]:
    """Question and excerpt of a judge's prompt, read as the marks say."""
    mark = user.split("with the mark ")[1].split(".")[0]
    found = re.findall(rf"=== {mark} (\w+) begins ===\n(.*?)\n=== {mark} \1 ends ===", user, re.DOTALL)
    named = dict(found)
    return named["question"], named["excerpt"]


def verdict(score: float, reason: str = "it does") -> str:
    return json.dumps({"score": score, "reason": reason})


class Judging:
    """A language model that marks by shared words, or replies what `script` makes of (question, excerpt). `most`: requests at one time."""

    name = "scripted/judge"

    def __init__(self, script: Callable[[str, str], str | Exception] | None = None, pause: float = 0.0) -> None:
        self._script = script or (lambda question, excerpt: verdict(round(10 * shared_words(question, excerpt))))
        self._pause = pause
        self.asked: list[Sequence[tuple[str, str]]] = []
        self.temperatures: set[float] = set()
        self.most = self._now = 0

    def stream(self, messages: Sequence[tuple[str, str]], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        self.asked.append(messages)
        self.temperatures.add(temperature)
        return self._run(messages)

    async def _run(self, messages: Sequence[tuple[str, str]]) -> AsyncGenerator[str, None]:
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(self._pause)
            reply = self._script(*parts_of(messages[-1][1]))
            if isinstance(reply, Exception):
                raise reply
            for start in range(0, len(reply), 9):
                yield reply[start : start + 9]
        finally:
            self._now -= 1
