"""The two retrievers on one question. Each method runs in a thread of its own and notes how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rag.index.generation import Generation
from rag.index.tokens import terms
from rag.protocols import Vector
from rag.retrieval.query_vectors import QueryVectors
from rag.types import Filters

Found = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Search:
    """`limit`: candidates, the same for both. Filters are part of both queries. `seconds` is filled as stages end."""

    question: str
    generation: Generation
    filters: Filters
    limit: int
    seconds: dict[str, float]

    def sparse(self) -> Found:
        """(row, BM25), best first. Raises: IndexCorrupt."""
        with self.clocked("sparse"):
            rows = self.generation.chunks.mask(self.filters) if self.filters else None
            return self.generation.sparse.search(terms(self.question), self.limit, rows)

    def dense(self, query_vectors: QueryVectors, *, search: bool) -> tuple[Vector, Found | None]:
        """The question's (d,) vector and, if `search`, (row, cosine similarity), best first. Raises: RetrievalError, ModelError."""
        with self.clocked("embed"):
            vector = query_vectors.of(self.question)
        if not search or self.generation.dense is None:
            return vector, None
        with self.clocked("dense"):
            return vector, self.generation.dense.search(vector, self.limit, self.filters or None)

    @contextmanager
    def clocked(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - started
