"""How sure a mean is: percentile bootstrap over repositories, since questions about one repository succeed and fail together.

Efron and Tibshirani 1993, chapter 13; the cluster is the repository. The seed is fixed: the same run has the same interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.evaluation.metrics import Scores

DRAWS = 4000
SEED = 20261129
MEASURES = ("ndcg", "recall", "precision", "reciprocal_rank")


@dataclass(frozen=True, slots=True)
class Interval:
    """The 95 % interval of a mean, ends included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3f}–{self.high:.3f}"


def intervals(scores: Sequence[Scores], repositories: Sequence[str]) -> dict[str, Interval] | None:
    """By measure, the interval of the mean over questions; question i has scores[i] and is about repositories[i].

    None where there are fewer than two repositories: nothing says then how another one would do.
    """
    if len(set(repositories)) < 2:
        return None
    values = np.array([[getattr(one, name) for name in MEASURES] for one in scores], dtype=np.float64)
    low, high = bootstrap(values, repositories)
    return {name: Interval(float(low[column]), float(high[column])) for column, name in enumerate(MEASURES)}


def bootstrap(values: NDArray[np.float64], clusters: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The 2.5 and 97.5 percentiles, (m,) each, of the mean of (n, m) rows when whole clusters are drawn with replacement.

    With a single cluster rows are drawn instead: then it speaks for these questions alone.
    """
    names, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    if len(names) < 2:
        numbers = np.arange(len(values))
    count = int(numbers.max()) + 1
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, numbers, values)
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    drawn = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=DRAWS).astype(np.float64)
    means = (drawn @ sums) / (drawn @ sizes)[:, None]
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return low, high
