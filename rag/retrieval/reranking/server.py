"""A rerank server over HTTP, in the dialect of Cohere (which Jina, vLLM and others speak) or of Hugging Face's TEI."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from rag.errors import RerankerFailed
from rag.index.addresses import checked_address, is_loopback
from rag.retrieval.reranking.texts import document_of, readable
from rag.types import Chunk, Relevance

Dialect = Literal["cohere", "tei"]

DEFAULT_PATHS: dict[Dialect, str] = {"cohere": "/v2/rerank", "tei": "/rerank"}
_MOST_BYTES = 1 << 20  # of a reply
_CHECK = "Check url, model and dialect in [rerank], and RERANK_API_KEY; footnote doctor tries it."


@dataclass(frozen=True, slots=True)
class RerankServer:
    """`url`: as `checked_rerank_url` gives it. `model`: what the server calls it, "" where it serves one. `timeout`: seconds a request."""

    url: str
    model: str = ""
    dialect: Dialect = "cohere"
    api_key: str = field(default="", repr=False)
    timeout: float = 10.0


def checked_rerank_url(url: str, dialect: Dialect) -> str:
    """The address that is posted to: as it is where it has a path, else the dialect's own. Raises: ConfigurationError."""
    checked = checked_address(
        url, "rerank.url", sends="excerpts of code and the key", remedy='Give an address such as "https://rerank.example.com/v2/rerank".'
    )
    return checked if urlsplit(checked).path else checked + DEFAULT_PATHS[dialect]


class ServerReranker:
    """Posts question and chunks to a server. It follows no redirect, and no message or log line repeats what was sent, or the key."""

    def __init__(self, server: RerankServer) -> None:
        self._server = server
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        return f"server/{self._server.model or urlsplit(self._server.url).hostname}"

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self._server.url).hostname or "")

    async def prepare(self) -> None:
        """Nothing: the server has its model."""

    async def score(self, question: str, chunks: Sequence[Chunk]) -> list[Relevance]:
        """Raises: RerankerFailed."""
        if not chunks:
            return []
        texts = [document_of(chunk) for chunk in chunks]
        body = await self._post(self._payload(readable(question), texts))
        return [Relevance(score) for score in scores_of(body, len(texts), self.name)]

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _payload(self, question: str, texts: list[str]) -> dict[str, Any]:
        if self._server.dialect == "tei":
            return {"query": question, "texts": texts, "truncate": True}
        model = {"model": self._server.model} if self._server.model else {}
        return {**model, "query": question, "documents": texts, "top_n": len(texts)}

    async def _post(self, payload: dict[str, Any]) -> bytes:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._server.timeout))
        headers = {"Content-Type": "application/json"}
        if self._server.api_key:
            headers["Authorization"] = f"Bearer {self._server.api_key}"
        body = json.dumps(payload, ensure_ascii=False).encode()
        try:
            async with self._session.post(self._server.url, data=body, headers=headers, allow_redirects=False) as response:
                if response.status != 200:
                    raise RerankerFailed(f"{self.name} answered with status {response.status}.", _CHECK)
                return await self._bounded(response)
        except asyncio.TimeoutError:  # noqa: UP041 - aiohttp's is one of these
            raise RerankerFailed(f"{self.name} did not answer within {self._server.timeout:g} seconds.", _CHECK) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise RerankerFailed(f"{self.name} cannot be reached ({type(error).__name__}).", _CHECK) from None

    async def _bounded(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for part in response.content.iter_chunked(1 << 16):
            body += part
            if len(body) > _MOST_BYTES:
                raise RerankerFailed(f"{self.name} answered with more than {_MOST_BYTES >> 20} MB.", _CHECK)
        return bytes(body)


def scores_of(body: bytes, count: int, name: str) -> list[float]:
    """The scores of `count` documents, in their order, of {"results": [{"index", "relevance_score"}]}, or of a list of {"index", "score"}.

    Every document must be scored once, by a finite number. Raises: RerankerFailed.
    """
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        raise _malformed(name, "no JSON") from None
    rows = read.get("results") if isinstance(read, dict) else read
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _malformed(name, "no list of results")
    scores: dict[int, float] = {}
    for row in rows:
        index, score = row.get("index"), row.get("relevance_score", row.get("score"))
        if not _is_index(index, count):
            raise _malformed(name, "an index that no document has")
        if index in scores:
            raise _malformed(name, "a document twice")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise _malformed(name, "a score that is no number")
        scores[index] = float(score)
    if len(scores) != count:
        raise _malformed(name, f"{len(scores)} scores for {count} documents")
    return [scores[index] for index in range(count)]


def _is_index(index: object, count: int) -> bool:
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count


def _malformed(name: str, what: str) -> RerankerFailed:
    return RerankerFailed(f"{name} answered with {what}.", _CHECK)
