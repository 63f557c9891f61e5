"""Cosine similarities of a question and unit rows: the same number for the same row, whichever others are compared with it. Exact, or where
that is enough as near as vectors of eight bits a number tell (rag.index.rough)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.index.best import Rows, near_best_of_each
from rag.index.dense_points import checked_query
from rag.index.spread import spread
from rag.protocols import Vector

_SLICE = 4_096  # vectors that a thread compares before it takes the next, so that none waits long for another
_COPIED = 256  # at a time, of rows that lie apart
_SAMPLE = 1_024
_RUN = 4  # rows in a row, on average, from which on they are compared where they lie

NONE: Rows = np.zeros(0, dtype=np.int64)


def cosines_of(question: Vector, vectors: Vector) -> Vector:
    """(n,) float32 cosine similarities. `question`: (d,); `vectors`: (n, d) unit rows. Raises: RetrievalError."""
    checked_query(question, vectors.shape[1])
    vectors = np.asarray(vectors)
    found = np.empty(len(vectors), dtype=np.float32)

    def compare(rows: slice) -> None:
        products(vectors[rows], question, found[rows])

    spread(compare, _slices(len(vectors), _SLICE))
    return found


def cosines_at(rows: Rows, question: Vector, vectors: Vector) -> Vector:
    """(m,) those of `rows` alone. On one thread: rows that lie together are compared where they lie, in many small steps."""
    vectors = np.asarray(vectors)  # as a map, every slice of it is one
    found = np.empty(len(rows), dtype=np.float32)
    starts = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist()]
    if len(starts) * _RUN > len(rows):
        for part in _slices(len(rows), _COPIED):
            products(vectors[rows[part]], question, found[part])
        return found
    for start, end in pairwise([*starts, len(rows)]):
        products(vectors[rows[start] : rows[end - 1] + 1], question, found[start:end])
    return found


def sample_of(count: int) -> Rows:
    """About a thousand of so many rows, from all parts of an index: by their similarities is known what an unrelated one has."""
    return np.arange(0, count, max(1, count // _SAMPLE))


class Cosines:
    """What is known of one question's similarities to the (n, d) unit rows of an index. One thread at a time.

    `near`: (n,) float32, each off by as much as `errors` says of some rows, None where they are exact. Without it nothing is known yet, and
    each is computed when it is asked for.
    """

    def __init__(
        self, question: Vector, vectors: Vector, near: Vector | None = None, errors: Callable[[Rows], Vector] | None = None
    ) -> None:
        self._question = question
        self._vectors = np.asarray(vectors)  # as a map, every slice of it is one
        self._near = np.full(len(vectors), np.nan, dtype=np.float32) if near is None else near
        self._errors = errors
        self._exact: NDArray[np.bool_] | None = None  # all are
        if near is None or errors is not None:
            self._exact = np.zeros(len(vectors), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._near)

    def learn(self, rows: Rows, exact: Vector) -> None:
        """(m,) rows with their similarities by all bits."""
        if self._exact is not None:
            self._near[rows] = exact
            self._exact[rows] = True

    def at(self, rows: Rows) -> Vector:
        """(m,) of these rows, exact."""
        if self._exact is not None:
            unknown = rows[~self._exact[rows]]
            if len(unknown):
                self.learn(unknown, cosines_at(unknown, self._question, self._vectors))
        found: Vector = self._near[rows]
        return found

    def about(self, rows: Rows) -> Vector:
        """(m,) of these rows, as they are known without reading more."""
        return self.at(rows) if self._errors is None else self._near[rows]

    def best_of_each(self, rows: Rows, starts: Rows, owner: Rows, most: int) -> tuple[Vector, Rows]:
        """(m,) of the rows of k files, exact for the best `most` of each, and the places among which these are. `starts`: (k,) where each
        file's begin; `owner`: (m,) the file of each."""
        found = self.about(rows)
        if not len(rows):
            return found, NONE
        if self._errors is None:
            return found, near_best_of_each(found, starts, owner, most)
        errors = self._errors(rows)
        near = near_best_of_each(found - errors, starts, owner, most, found + errors)
        found[near] = self.at(rows[near])
        return found, near


def products(vectors: Vector, question: Vector, out: Vector | None = None) -> Vector:
    """(n,) of (n, d) and (d,). Not by `@`: there a row's last digit depends on where it lies, so that twins differ, and OpenBLAS keeps its
    threads spinning for a while after each product, which slows down whatever follows.
    """
    found: Vector = np.vecdot(vectors, question, out=out)
    return found


def nearest(cosines: Vector, limit: int, rows: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
    """Up to `limit` (row, cosine similarity), best first, ties by row. `cosines`: see `cosines_of`. `rows`: (n,) those that may be found,
    None for all.
    """
    allowed = np.arange(len(cosines)) if rows is None else np.flatnonzero(rows)
    if limit <= 0 or not len(allowed):
        return []
    near = cosines if rows is None else cosines[allowed]
    if limit < len(near):
        least = np.partition(near, len(near) - limit)[len(near) - limit]
        kept = np.flatnonzero(near >= least)
        allowed, near = allowed[kept], near[kept]
    order = np.lexsort((allowed, -near))[:limit]
    return list(zip(allowed[order].tolist(), near[order].tolist(), strict=True))


def _slices(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
