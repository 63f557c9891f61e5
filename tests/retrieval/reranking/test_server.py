"""A rerank server that answers anything but what was asked for, and what is sent to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from rag.errors import ConfigurationError, RerankerFailed
from rag.retrieval.reranking.server import RerankServer, ServerReranker, checked_rerank_url
from rag.types import Chunk, Kind
from tests.retrieval.reranking.servers import like_cohere, like_tei, rerank_server

KEY = "canary-key-canary-key"
CHUNKS = [Chunk(f"src/{name}.py", 1, 2, Kind.FUNCTION, "python", f"def {name}(): canary_code") for name in ("a", "b", "c")]


def results(*pairs: tuple[Any, Any]) -> Callable[[dict[str, Any]], web.Response]:
    rows = [{"index": index, "relevance_score": score} for index, score in pairs]
    return lambda read: web.Response(text=json.dumps({"results": rows}), content_type="application/json")


def text(body: str, status: int = 200) -> Callable[[dict[str, Any]], web.Response]:
    return lambda read: web.Response(text=body, status=status, headers={"Location": "/elsewhere"})


async def ask(answer: Callable[[dict[str, Any]], web.Response], *, delay: float = 0.0, patience: float = 60.0) -> list[float]:
    async with rerank_server(answer, delay=delay) as server:
        reranker = ServerReranker(RerankServer(checked_rerank_url(server.url, "cohere"), "m", api_key=KEY, timeout=patience))
        try:
            return [one.score for one in await reranker.score("which?", CHUNKS)]
        finally:
            await reranker.aclose()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (text("<html>"), "no JSON"),
        (text("[" * 100_000), "no JSON"),
        (text("null"), "no list"),
        (text('{"results": {}}'), "no list"),
        (text('{"results": [1, 2, 3]}'), "no list"),
        (results(), "0 scores for 3"),
        (results((0, 0.5), (1, 0.4)), "2 scores for 3"),
        (results((0, 0.5), (1, 0.4), (1, 0.3)), "twice"),
        (results((0, 0.5), (1, 0.4), (3, 0.3)), "an index"),
        (results((0, 0.5), (1, 0.4), (-1, 0.3)), "an index"),
        (results((0, 0.5), (1, 0.4), ("2", 0.3)), "an index"),
        (results((0, 0.5), (1, 0.4), (True, 0.3)), "an index"),
        (results((0, 0.5), (1, 0.4), (2, float("nan"))), "no number"),
        (results((0, 0.5), (1, 0.4), (2, float("inf"))), "no number"),
        (results((0, 0.5), (1, 0.4), (2, "0.3")), "no number"),
        (results((0, 0.5), (1, 0.4), (2, None)), "no number"),
        (results((0, 0.5), (1, 0.4), (2, True)), "no number"),
        (text("x" * (2 << 20)), "more than 1 MB"),
        (text("slow down", 429), "status 429"),
        (text("broken", 500), "status 500"),
        (text(KEY, 401), "status 401"),
        (text("", 302), "status 302"),
    ],
)
async def test_what_is_no_answer_is_an_error_that_says_why(answer: Callable[[dict[str, Any]], web.Response], problem: str) -> None:
    with pytest.raises(RerankerFailed, match=problem) as raised:
        await ask(answer)
    assert "rerank" in raised.value.remedy
    assert KEY not in str(raised.value)


async def test_a_server_that_is_slow_or_away_is_an_error() -> None:
    with pytest.raises(RerankerFailed, match=r"within 0\.2 seconds"):
        await ask(like_cohere, delay=30, patience=0.2)
    async with rerank_server(like_cohere) as server:
        url = checked_rerank_url(server.url, "cohere")
    gone = ServerReranker(RerankServer(url))
    with pytest.raises(RerankerFailed, match="cannot be reached"):
        await gone.score("which?", CHUNKS)
    await gone.aclose()


async def test_a_redirect_is_not_followed() -> None:
    async with rerank_server(text("", 307)) as server:
        reranker = ServerReranker(RerankServer(checked_rerank_url(server.url, "cohere")))
        with pytest.raises(RerankerFailed, match="307"):
            await reranker.score("which?", CHUNKS)
        await reranker.aclose()
    assert len(server.requests) == 1


async def test_what_cohere_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with rerank_server(like_cohere) as server:
        reranker = ServerReranker(RerankServer(checked_rerank_url(server.url, "cohere"), "rerank-x", api_key=KEY))
        await reranker.score("which?", CHUNKS)
        await reranker.aclose()
    [(path, headers, read)] = server.requests
    assert path == "/v2/rerank"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert read == {"model": "rerank-x", "query": "which?", "documents": [chunk.encoded_text for chunk in CHUNKS], "top_n": 3}
    assert KEY not in caplog.text + repr(reranker._server)
    assert "canary_code" not in caplog.text


async def test_what_tei_is_sent() -> None:
    async with rerank_server(like_tei) as server:
        reranker = ServerReranker(RerankServer(checked_rerank_url(server.url, "tei"), dialect="tei"))
        await reranker.score("which?", CHUNKS)
        await reranker.aclose()
    [(path, headers, read)] = server.requests
    assert path == "/rerank"
    assert "Authorization" not in headers
    assert read == {"query": "which?", "texts": [chunk.encoded_text for chunk in CHUNKS], "truncate": True}


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("https://api.example.com", "https://api.example.com/v2/rerank"),
        ("https://api.example.com/v1/rerank/", "https://api.example.com/v1/rerank"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v2/rerank"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://10.0.0.7", "http://10.0.0.7/v2/rerank"),
        ("http://reranker:80", "http://reranker:80/v2/rerank"),
    ],
)
def test_addresses(url: str, checked: str) -> None:
    assert checked_rerank_url(url, "cohere") == checked


@pytest.mark.parametrize(
    "url",
    [
        *("", "rerank.example.com", "ftp://example.com", "http://example.com/rerank", "http://8.8.8.8", "https://me:canary@example.com"),
        *("https://example.com/rerank?key=canary", "https://example.com/#canary", "https://example.com:port", "http://0.0.0.0"),
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"rerank\.url") as raised:
        checked_rerank_url(url, "cohere")
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize(("url", "local"), [("http://127.0.0.1:1", True), ("http://localhost", True), ("http://10.0.0.7", False)])
def test_only_this_machine_is_local(url: str, local: bool) -> None:
    assert ServerReranker(RerankServer(checked_rerank_url(url, "cohere"))).local is local
