"""One size read, in a process of its own: `python -m benchmarks.growth.read` takes a job as JSON and prints what it saw as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.growth.build import NAME
from benchmarks.material import QUESTIONS
from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.tokens import terms
from rag.protocols import Vector
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Filters, Repository

ASKED = 200
CANDIDATES = 100
RECALL = 10
# A glob over all paths, and kinds as well.
FILTER = Filters(path=("**/[a-f]*.py",), kind=("function", "method"))


def main() -> int:
    job = json.loads(sys.stdin.readline())
    print(json.dumps(asyncio.run(read(Path(job["data"])))))
    return 0


async def read(data: Path) -> dict[str, Any]:
    """Start-up, milliseconds a question (p50, p99), recall of the dense store against every vector compared, resident memory."""
    embedder = load_embedder(EmbeddingSettings(), data / "models")
    repository = Repository(NAME, "")
    retriever = Retriever(embedder, RetrievalSettings())
    await asyncio.to_thread(embedder.embed_query, "warm")
    before = psutil.Process().memory_info()
    started = time.perf_counter()
    indexes = Indexes(data, default_backend(), embedder.spec)
    with indexes.for_name(NAME).open() as generation:
        await retriever.retrieve(QUESTIONS[0], generation, repository)
        start = time.perf_counter() - started
        questions = _questions(generation)
        vectors = np.stack([embedder.embed_query(question) for question in questions])
        mask = generation.chunks.mask(FILTER)
        assert mask is not None
        found: dict[str, Any] = {"start": start, "share": float(mask.mean()), "milliseconds": {}}
        for name, filters in (("", None), (", filtered", FILTER)):
            found["milliseconds"] |= {
                f"sparse{name}": _taken(partial(_sparse, generation, filters), questions),
                f"dense{name}": _taken(partial(_dense, generation, filters), vectors),
            }
            times = []
            for number in range(ASKED):  # each with other words than before, for a question's vector is remembered
                began = time.perf_counter()
                await retriever.retrieve(f"{questions[number]}{name} {number}", generation, repository, filters=filters or Filters())
                times.append(time.perf_counter() - began)
            found["milliseconds"][f"retrieve{name}"] = _percentiles(times)
        memory = psutil.Process().memory_info()
        found["resident"] = memory.rss - before.rss
        found["mapped"] = getattr(memory, "shared", 0) - getattr(before, "shared", 0)
        found["recall"] = _recall(generation, vectors, None)
        found["recall, filtered"] = _recall(generation, vectors, FILTER, mask)
    indexes.close()
    return found


def _questions(generation: Generation) -> list[str]:
    """Fixed ones, each with a name that the index holds."""
    rows = np.linspace(0, len(generation.chunks) - 1, ASKED, dtype=int).tolist()
    return [f"{QUESTIONS[n % len(QUESTIONS)]} {chunk.symbol}".strip() for n, chunk in enumerate(generation.chunks.get(rows))]


def _sparse(generation: Generation, filters: Filters | None, question: str) -> object:
    rows = generation.chunks.mask(filters) if filters else None
    return generation.sparse.search(terms(question), CANDIDATES, rows)


def _dense(generation: Generation, filters: Filters | None, vector: Vector, limit: int = CANDIDATES) -> list[tuple[int, float]]:
    assert generation.dense is not None
    return generation.dense.search(vector, limit, filters)


def _taken(ask: Callable[[Any], object], questions: Iterable[Any]) -> list[float]:
    times = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        times.append(time.perf_counter() - started)
    return _percentiles(times)


def _percentiles(seconds: Sequence[float]) -> list[float]:
    return [1000 * float(np.percentile(seconds, percent)) for percent in (50, 99)]


def _recall(generation: Generation, vectors: Vector, filters: Filters | None, mask: np.ndarray | None = None) -> float:
    """Of the ten nearest, the share that the store finds."""
    assert generation.vectors is not None
    rows = np.flatnonzero(mask) if mask is not None else np.arange(len(generation.vectors))
    held = np.asarray(generation.vectors)[rows]
    found = 0
    wanted = min(RECALL, len(rows))
    for vector in vectors:
        near = held @ vector
        best = set(rows[np.argpartition(near, len(near) - wanted)[len(near) - wanted :]].tolist())
        found += len(best & {row for row, _ in _dense(generation, filters, vector, wanted)})
    return found / (wanted * len(vectors))


if __name__ == "__main__":
    raise SystemExit(main())
