"""Merging ranked lists: by their scores on one scale, or by rank alone, where no score is compared with one of another retriever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

K = 60  # the constant of the paper; a larger one lets agreement weigh more than first places


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], k: int = K) -> list[tuple[int, float]]:
    """Rows with their fused scores, best first, ties by row: the sum of 1 ÷ (k + rank) over the lists that hold the row, ranks from 1.

    Reciprocal rank fusion, Cormack et al. 2009. A row may stand once in a list.
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            fused[row] = fused.get(row, 0.0) + 1 / (k + rank)
    return _best_first(fused)


def linear_fusion(
    rows: NDArray[np.int64], sparse: NDArray[np.float64], dense: NDArray[np.float64], weight: float
) -> list[tuple[int, float]]:
    """Rows with `weight` × sparse + (1 − weight) × dense, best first, ties by row. `sparse`, `dense`: (k,) their scores on one scale, 0 for
    nothing, 1 for the best. A row may stand once in `rows`.
    """
    fused = weight * sparse + (1 - weight) * dense
    order = np.lexsort((rows, -fused))
    return list(zip(rows[order].tolist(), fused[order].tolist(), strict=True))


def _best_first(fused: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
