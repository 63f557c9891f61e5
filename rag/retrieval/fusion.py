"""Merging ranked lists by rank alone: no score of one retriever is compared with a score of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

K = 60  # the constant of the paper; a larger one lets agreement weigh more than first places


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], k: int = K) -> list[tuple[int, float]]:
    """Rows with their fused scores, best first, ties by row: the sum of 1 ÷ (k + rank) over the lists that hold the row, ranks from 1.

    Reciprocal rank fusion, Cormack et al. 2009. A row may stand once in a list.
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            fused[row] = fused.get(row, 0.0) + 1 / (k + rank)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))
