"""A question compared with every vector of a generation: one product brings the nearest rows and the similarity of all the others.

For generations whose store would compare every vector as well (`ScanningStore`): there it is asked nothing, for a ranking needs the
similarities of thousands of rows beside the nearest, and memory would be read twice.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rag.index.dense_points import checked_query
from rag.protocols import Vector

_SLICE = 4_096  # vectors that a thread compares before it takes the next, so that none waits long for another
_THREADS = 4  # at most; memory gives no more


def cosines_of(question: Vector, vectors: Vector) -> Vector:
    """(n,) float32 cosine similarities. `question`: (d,); `vectors`: (n, d) unit rows. Raises: RetrievalError."""
    checked_query(question, vectors.shape[1])
    vectors = np.asarray(vectors)
    threads = min(_THREADS, os.cpu_count() or 1)
    if len(vectors) <= _SLICE or threads == 1:
        return products(vectors, question)
    found = np.empty(len(vectors), dtype=np.float32)
    slices = iter([slice(start, start + _SLICE) for start in range(0, len(vectors), _SLICE)])

    def compare() -> None:
        for rows in slices:
            products(vectors[rows], question, found[rows])

    others = [_pool().submit(compare) for _ in range(threads - 1)]
    compare()
    for other in others:
        if not other.cancel():  # on a busy machine it may not have begun
            other.result()
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


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS - 1, thread_name_prefix="scan")
