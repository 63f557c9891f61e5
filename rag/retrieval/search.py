"""The two retrievers on one question. Each method runs in a thread of its own and notes how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rag.errors import StoreUnavailable
from rag.index.cosines import Cosines
from rag.index.generation import Generation
from rag.index.history_filter import resolved
from rag.index.sparse import best_rows
from rag.protocols import HybridStore, ScanningStore, Vector
from rag.retrieval.focus import focused
from rag.retrieval.misspelt import Knows, corrected, read_as
from rag.retrieval.query import Query
from rag.retrieval.query_filters import TEST_GLOBS
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.several import those_of_here
from rag.retrieval.spelt import spelt_as_here
from rag.types import Filters

Found = list[tuple[int, float]]
Allowed = NDArray[np.bool_] | None  # (n,) rows that may be found, None for all

SERVER_AWAY = "The server that is searched by meaning cannot be asked at the moment: this was found by words alone."
BY_WORDS = 1_000  # rows that a server brings of each form of the words: what scores less hardly moves the sum of a file's scores


@dataclass(frozen=True, slots=True)
class Words:
    """What BM25 found. `bm25`: (n,) over whole terms. `scores`: (n,) over both forms of the terms: the mean of what each says, divided by
    its best. Chunks that may not be found have 0. `found`: (row, score), best first. `of_files`: (f,) the best score of each file.
    """

    bm25: NDArray[np.float64]
    scores: NDArray[np.float64]
    found: Found
    of_files: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What vectors found. `question`: its (d,) vector. `found`: (row, cosine similarity), best first, None where nothing was searched.
    `cosines`: what is known of those of the others, None where a store did the search."""

    question: Vector
    found: Found | None = None
    cosines: Cosines | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """`limit`: candidates, the same for both. Filters are part of both queries. `seconds` is filled as stages end, `notices` with what
    whoever asked must be told. `knows`: the words of the language, None where nothing tells: then none is taken for misspelt. `read_as`:
    what such words were taken for."""

    query: Query
    generation: Generation
    filters: Filters
    limit: int
    seconds: dict[str, float]
    notices: list[str] = field(default_factory=list)
    knows: Knows | None = None
    read_as: Mapping[str, str] = field(default_factory=dict)

    def narrowed(self, given: Filters) -> tuple[Search, NDArray[np.bool_] | None]:
        """What to search, and (n,) the rows that may be found, None for all. Of a long question, the words that are rare here. Where "in
        the tests" or a date in words leaves nothing, the other filters alone hold: it was said in words and may have meant something
        else. Authors and dates are looked up here, once.
        """
        query = focused(those_of_here(self.query, self.generation), self.generation.stems, len(self.generation.chunks))
        read = read_as(query, self.knows, self.generation.sparse, self.generation.stems) if self.knows is not None else {}
        query = spelt_as_here(corrected(query, read), self.generation.chunks.defines)
        filters, told = resolved(self.filters, self.generation.history)
        allowed = self.generation.chunks.mask(filters)
        if allowed is not None and not allowed.any() and (in_words := self._without_words(given)) != self.filters:
            if self.filters.worded:
                told = (*told, f"No file that fits was changed since {self.filters.since}: this was found without regard to when.")
            filters, more = resolved(in_words, self.generation.history)
            told = tuple(dict.fromkeys((*told, *more)))
            allowed = self.generation.chunks.mask(filters)
        told = (*told, *(f"Nothing here is called “{word}”: it was read as “{meant}”." for word, meant in read.items()))
        return replace(self, query=query, filters=filters, notices=[*self.notices, *told], read_as=read), allowed

    def _without_words(self, given: Filters) -> Filters:
        """The filters without what was said in words alone."""
        kept = replace(self.filters, path=given.path) if self.query.filters.path == TEST_GLOBS else self.filters
        return replace(kept, since=None, before=None, worded=False) if kept.worded else kept

    def sparse(self, allowed: Allowed) -> Words:
        """Raises: IndexCorrupt."""
        with self.clocked("sparse"):
            terms, stems_sought = self.query.sought
            whole, stems = self.generation.sparse.scores(terms), self.generation.stems.scores(stems_sought)
            if allowed is not None:
                whole, stems = np.where(allowed, whole, 0.0), np.where(allowed, stems, 0.0)
            return self._words(whole, stems, allowed)

    def embedded(self, query_vectors: QueryVectors) -> Vector:
        """The question's vector. Raises: ModelError."""
        with self.clocked("embed"):
            return query_vectors.of(*self.query.texts)

    def dense(self, vector: Vector, allowed: Allowed) -> Meaning:
        """What is near to it. Raises: RetrievalError."""
        with self.clocked("dense"):
            return near(vector, self.generation, self.limit, allowed, self.filters)

    def both(self, query_vectors: QueryVectors, allowed: Allowed) -> tuple[Words, Meaning]:
        """What `sparse` and `dense` bring, of one request to a server, which is clocked as "dense". Where that is away, the sparse part on
        this machine answers alone, and `notices` says so. Raises: RetrievalError, ModelError, IndexCorrupt."""
        vector = self.embedded(query_vectors)
        store = self.generation.dense
        assert isinstance(store, HybridStore)  # noqa: S101
        try:
            with self.clocked("dense"):
                words = self.generation.forms.counts(*self.query.sought)
                forms, dense = store.search_all(vector, words, self.limit, self.filters or None, by_words=max(self.limit, BY_WORDS))
        except StoreUnavailable:  # logged where it happened, once
            self.notices.append(SERVER_AWAY)
            return self.sparse(allowed), Meaning(vector)
        whole, stems = (_spread(found, len(self.generation.chunks)) for found in forms)
        return self._words(whole, stems, allowed), Meaning(vector, dense)

    def _words(self, whole: NDArray[np.float64], stems: NDArray[np.float64], allowed: Allowed) -> Words:
        """(n,) scores of both forms; chunks that may not be found have 0."""
        scores = _halved(whole)
        scores += _halved(stems)
        # A chunk that holds a term holds it without its ending.
        found = best_rows(scores, self.limit, allowed, lambda: self.generation.stems.holding(self.query.sought[1]))
        return Words(whole, scores, found, self.generation.chunks.files.best(scores))

    def clocked(self, stage: str) -> AbstractContextManager[None]:
        return clocked(self.seconds, stage)


@contextmanager
def clocked(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Notes how long it takes."""
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = time.perf_counter() - started


def near(vector: Vector, generation: Generation, limit: int, allowed: Allowed, filters: Filters) -> Meaning:
    """The `limit` chunks nearest to a vector. `allowed`: those that the filters let be found. Raises: RetrievalError."""
    store, scan = generation.dense, generation.scan
    if store is None:
        return Meaning(vector)
    if isinstance(store, ScanningStore) and store.scans and scan is not None:
        return Meaning(vector, *scan.nearest(vector, limit, allowed))
    return Meaning(vector, store.search(vector, limit, filters or None))


def _spread(found: Found, size: int) -> NDArray[np.float64]:
    """(n,) the scores of the rows that were found, 0 elsewhere."""
    scores = np.zeros(size)
    if found:
        rows, values = zip(*found, strict=True)
        scores[list(rows)] = values
    return scores


def _halved(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half of them divided by the best; by the furthest from nothing where a small corpus gives nothing above it."""
    best = float(scores.max(initial=0.0)) or -float(scores.min(initial=0.0))
    return scores / (2 * best) if best > 0 else scores.copy()
