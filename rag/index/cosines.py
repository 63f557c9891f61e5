"""Cosine similarities of a question and unit rows, exact: the same number for the same row, whichever others are compared with it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.index.dense_points import checked_query
from rag.index.spread import spread
from rag.protocols import Vector

_SLICE = 4_096  # vectors that a thread compares before it takes the next, so that none waits long for another
_COPIED = 256  # at a time, of rows that lie apart
_SAMPLE = 1_024
_RUN = 4  # rows in a row, on average, from which on they are compared where they lie

Rows = NDArray[np.int64]
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


def sample_of(vectors: Vector) -> slice:
    """About a thousand of the rows, from all parts of an index: by their similarities is known what an unrelated one has."""
    return slice(None, None, max(1, len(vectors) // _SAMPLE))


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
