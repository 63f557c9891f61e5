"""A collection, open for reading: all queries of a question in one request, ties by row, globs in few words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from qdrant_client import QdrantClient, models

from rag.errors import RetrievalError
from rag.index.collection import dense_query, filter_of, found, found_by_words, sparse_query
from rag.index.dense_points import checked_query, conditions, ranked
from rag.index.globs import paths_meant
from rag.index.path_cover import Cover, cover
from rag.index.server import Server
from rag.protocols import Vector
from rag.types import Filters

Found = list[tuple[int, float]]
SPARE = 16  # candidates over the limit that come along, so that a tie at its end seldom needs another request
WIDEST = 10_000  # candidates in the widest tie that is resolved
_REMEMBERED = 64  # filters of a store whose paths are known


class ServerStore:
    """A collection, open for reading. Threads may share it."""

    def __init__(self, server: Server, collection: str, dimension: int, paths: Sequence[str]) -> None:
        self._server = server
        self._collection = collection
        self._dimension = dimension
        self._paths = paths
        self._covers: dict[tuple[tuple[str, ...], frozenset[str] | None], Cover | None] = {}
        self._lock = threading.Lock()
        self._closed = False

    def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> Found:
        """Up to `limit` (row, cosine similarity), best first, ties by row. Raises: RetrievalError, StoreUnavailable, CollectionGone."""
        return self._search(vector, (), limit, filters, 0)[1]

    def search_all(
        self, vector: Vector, words: Sequence[Mapping[int, int]], limit: int, filters: Filters | None = None, *, by_words: int = 0
    ) -> tuple[list[Found], Found]:
        """As HybridStore has it, of one request; of one more for each whose last score a tie of many shares.

        Raises: RetrievalError, StoreUnavailable, CollectionGone.
        """
        return self._search(vector, words, limit, filters, by_words or limit)

    def close(self) -> None:
        self._closed = True

    def _search(
        self, vector: Vector, words: Sequence[Mapping[int, int]], limit: int, filters: Filters | None, most: int
    ) -> tuple[list[Found], Found]:
        numbers = checked_query(vector, self._dimension)
        if self._closed:
            raise RetrievalError("The dense store was closed.", "Try again.")
        asked = conditions(Filters(language=filters.language, kind=filters.kind) if filters else None, ())
        by_path = filters is not None and bool(filters.path or filters.by_history or filters.files is not None)
        paths = self._cover(filters) if filters is not None and by_path else None
        if asked is None or limit <= 0 or (by_path and paths is None):
            return [[] for _ in words], []
        chosen = filter_of(asked, paths)

        def by_meaning(count: int) -> models.QueryRequest:
            return dense_query(numbers, count, chosen, self._server.settings)

        def by_words(counts: Mapping[int, int], count: int) -> models.QueryRequest:
            return sparse_query(counts, count, chosen)

        known = [counts for counts in words if counts]  # a query without any known word finds nothing
        requests = [by_meaning(limit + SPARE), *(by_words(counts, most + SPARE) for counts in known)]
        dense, *sparse = self._server.search(batch_request(self._collection, requests))
        first = iter(sparse)
        return (
            [self._ranked(found_by_words, next(first), partial(by_words, counts), most) if counts else [] for counts in words],
            self._ranked(found, dense, by_meaning, limit),
        )

    def _ranked(
        self,
        read: Callable[[models.QueryResponse], Found],
        first: models.QueryResponse,
        request: Callable[[int], models.QueryRequest],
        limit: int,
    ) -> Found:
        def fetch(count: int) -> Found:
            if count == limit + SPARE:
                return read(first)
            return read(self._server.search(batch_request(self._collection, [request(count)]))[0])

        return ranked(fetch, limit, spare=SPARE, most=WIDEST)

    def _cover(self, filters: Filters) -> Cover | None:
        """Words for the paths that a filter means; None where it means none."""
        asked = (filters.path, filters.files)
        with self._lock:
            if asked in self._covers:
                return self._covers[asked]
        fitting = paths_meant(filters, self._paths)
        words = cover(fitting, self._paths) if fitting else None
        with self._lock:
            if len(self._covers) >= _REMEMBERED:
                self._covers.clear()
            self._covers[asked] = words
        return words


def batch_request(name: str, requests: Sequence[models.QueryRequest]) -> Callable[[QdrantClient], list[models.QueryResponse]]:
    return lambda client: client.query_batch_points(name, requests)
