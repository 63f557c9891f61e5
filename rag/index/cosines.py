"""Cosine similarities of a question and unit rows, exact: the same number for the same row, whichever others are compared with it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.index.dense_points import checked_query
from rag.index.spread import spread
from rag.protocols import Vector

_SLICE = 4_096  # vectors that a thread compares before it takes the next, so that none waits long for another
_CHOSEN_SLICE = 1_024  # of chosen rows
_RUN = 4  # rows in a row, on average, from which on they are compared where they lie

Rows = NDArray[np.int64]


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
    """(m,) those of `rows` alone."""
    vectors = np.asarray(vectors)  # as a map, every slice of it is one
    found = np.empty(len(rows), dtype=np.float32)

    def compare(part: slice) -> None:
        some, out = rows[part], found[part]
        starts = [0, *(np.flatnonzero(np.diff(some) != 1) + 1).tolist()]
        if len(starts) * _RUN > len(some):
            products(vectors[some], question, out)
            return
        for start, end in pairwise([*starts, len(some)]):
            products(vectors[some[start] : some[end - 1] + 1], question, out[start:end])

    spread(compare, _slices(len(rows), _CHOSEN_SLICE))
    return found


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
