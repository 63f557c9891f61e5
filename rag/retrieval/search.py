"""The two retrievers on one question. Each method runs in a thread of its own and notes how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rag.errors import StoreUnavailable
from rag.index.generation import Generation
from rag.index.tokens import terms
from rag.protocols import HybridStore, Vector
from rag.retrieval.query_vectors import QueryVectors
from rag.types import Filters

Found = list[tuple[int, float]]

SERVER_AWAY = "The server that is searched by meaning cannot be asked at the moment: this was found by words alone."


@dataclass(frozen=True, slots=True)
class Search:
    """`limit`: candidates, the same for both. Filters are part of both queries. `seconds` is filled as stages end, `notices` with what
    whoever asked must be told."""

    question: str
    generation: Generation
    filters: Filters
    limit: int
    seconds: dict[str, float]
    notices: list[str] = field(default_factory=list)

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

    @property
    def in_one_request(self) -> bool:
        """Whether a server holds both parts."""
        return isinstance(self.generation.dense, HybridStore)

    def both(self, query_vectors: QueryVectors) -> tuple[Found, tuple[Vector, Found | None]]:
        """What `sparse` and `dense` bring, of one request to a server. Where that is away, the sparse part on this machine answers alone,
        and `notices` says so. Raises: RetrievalError, ModelError, IndexCorrupt."""
        with self.clocked("embed"):
            vector = query_vectors.of(self.question)
        store = self.generation.dense
        assert isinstance(store, HybridStore)  # noqa: S101
        try:
            with self.clocked("dense"):
                counts = self.generation.sparse.counts(terms(self.question))
                sparse, dense = store.search_both(vector, counts, self.limit, self.filters or None)
        except StoreUnavailable:  # logged where it happened, once
            self.notices.append(SERVER_AWAY)
            return self.sparse(), (vector, None)
        return sparse, (vector, dense)

    @contextmanager
    def clocked(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - started
