"""Small retrievals to answer from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rag.types import Chunk, ContextChunk, GenerationInfo, Kind, Repository, Retrieval, SearchResult

COMMIT = "0123456789abcdef0123456789abcdef01234567"
INDEX = GenerationInfo("flask", "g1", COMMIT, "main", datetime(2026, 11, 29, tzinfo=UTC), 12, 340, dense_ready=True)
REPOSITORY = Repository("flask", "https://github.com/pallets/flask", generator="groq")


def chunk(path: str = "src/app.py", start: int = 10, text: str = "def route(rule):\n    return add_url_rule(rule)", **more: Any) -> Chunk:
    fields: dict[str, Any] = {"kind": Kind.FUNCTION, "language": "python", "symbol": "route", **more}
    return Chunk(path=path, start_line=start, end_line=start + text.count("\n"), text=text, **fields)


def result(rank: int, what: Chunk, similarity: float = 0.5) -> SearchResult:
    link = f"https://github.com/pallets/flask/blob/{COMMIT}/{what.path}#L{what.start_line}-L{what.end_line}"
    return SearchResult(rank, what, 1.0 / rank, {"similarity": similarity, "fused": 1.0 / rank}, link)


def results(count: int = 3) -> list[SearchResult]:
    return [result(number, chunk(f"src/file{number}.py", number * 10)) for number in range(1, count + 1)]


def context(count: int = 3) -> tuple[ContextChunk, ...]:
    return tuple(ContextChunk(found.rank, found) for found in results(count))


def retrieval(found: Sequence[SearchResult] | None = None) -> Retrieval:
    kept = tuple(results() if found is None else found)
    return Retrieval(kept, INDEX, {"sparse": 0.01, "dense": 0.02}, {"sparse": len(kept), "dense": len(kept)})
