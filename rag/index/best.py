"""The best few of many scores: which of them need to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Scores = NDArray[np.floating[Any]]

_GROUPS = 4  # groups for each that is sought: more come nearer to the least of the best, and take longer
_LEAST = 64  # groups: fewer are not quicker


def reached(scores: Scores, limit: int) -> float:
    """A score that at least `limit` of them reach, most often not far below the least of the best `limit`; -inf of too few.

    As many groups of scores have a best that reaches it: to compare groups takes a tenth of the time of parting all scores.
    """
    groups = max(_GROUPS * limit, _LEAST)
    if limit <= 0 or len(scores) < 2 * groups:
        return -np.inf
    best = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    best.partition(groups - limit)
    return float(best[groups - limit])


def first_of(scores: Scores, limit: int) -> Rows:
    """Places of the best `limit` scores, best first, ties by place."""
    least = reached(scores, limit)
    if least == -np.inf:
        return (-scores).argsort(kind="stable")[: max(limit, 0)]
    places: Rows = (scores >= least).nonzero()[0]
    return places[(-scores[places]).argsort(kind="stable")][:limit]


def near_best_of_each(scores: Scores, starts: Rows, owner: Rows, most: int, at_most: Scores | None = None) -> Rows:
    """Ascending, the places of finite scores among which the best `most` of each group are, and few others. `starts`: (k,) where each
    group's begin; `owner`: the group of each. `at_most`: where each score is only known to lie between two, the upper ones.
    """
    left = scores.copy()
    for _ in range(most - 1):
        left[left >= np.maximum.reduceat(left, starts)[owner]] = -np.inf
    least = np.maximum.reduceat(left, starts)  # so much the last of the best has at least
    near: Rows = ((scores if at_most is None else at_most) >= least[owner]).nonzero()[0]
    return near


def best_of_each(scores: Scores, near: Rows, owner: Rows, groups: int, most: int) -> Rows:
    """(k, most) the places of each group's best scores, best first, ties by place, -1 for none. `near`: see `near_best_of_each`."""
    places = np.full((groups, most), -1)
    if not len(near):
        return places
    of_near, found = owner[near], scores[near]
    # One key sorts in half the time of two: one group's lie before the next one's, the best of each first.
    order = (of_near * (2 * float(np.abs(found).max()) + 1) - found).argsort(kind="stable")
    position = np.arange(len(near)) - of_near.searchsorted(np.arange(groups))[of_near]
    kept = position < most
    places[of_near[kept], position[kept]] = near[order[kept]]
    return places
