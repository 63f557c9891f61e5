"""How good a ranking is. Pure, and by the definitions that the published figures use:

the ranked list is chunks, a repeated file keeps its rank, main and secondary labels count alike, and a label counts at the first result
that meets it. Discounted gain: Järvelin and Kekäläinen 2002, binary gains, log2(rank + 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.evaluation.datasets import Label

DEPTH = 10  # of NDCG and recall
FIRST = 5  # of precision


@dataclass(frozen=True, slots=True)
class Place:
    """A ranked result: 1-based inclusive lines of a file."""

    path: str
    start_line: int
    end_line: int
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Each 0–1. `ndcg`, `recall`: of the first ten; `precision`: of the first five; `reciprocal_rank`: 1 ÷ rank of the first right one."""

    ndcg: float
    recall: float
    precision: float
    reciprocal_rank: float


NOTHING = Scores(0.0, 0.0, 0.0, 0.0)


def score(results: Sequence[Place], labels: Sequence[Label], *, lines: bool) -> Scores:
    """Scores one ranking, best first. `lines`: a label with lines is met only by a result that overlaps them; otherwise labels are files.

    Raises: ValueError without labels.
    """
    if not labels:
        raise ValueError("a ranking needs labels to be scored")
    if not lines:
        labels = [Label(path) for path in dict.fromkeys(label.path for label in labels)]
    ranks = [rank for label in labels if (rank := _rank(results, label))]
    hit = {rank for rank in ranks if rank <= DEPTH}  # labels that one result meets together gain once
    ideal = sum(_discount(rank) for rank in range(1, min(DEPTH, len(labels)) + 1))
    return Scores(
        ndcg=sum(_discount(rank) for rank in sorted(hit)) / ideal,
        recall=sum(rank <= DEPTH for rank in ranks) / len(labels),
        precision=sum(any(meets(result, label) for label in labels) for result in results[:FIRST]) / FIRST,
        reciprocal_rank=max((1 / rank for rank in ranks), default=0.0),
    )


def mean(scores: Iterable[Scores]) -> Scores:
    """The mean of each score; zeros of nothing."""
    rows = list(scores)
    if not rows:
        return NOTHING
    return Scores(
        ndcg=sum(row.ndcg for row in rows) / len(rows),
        recall=sum(row.recall for row in rows) / len(rows),
        precision=sum(row.precision for row in rows) / len(rows),
        reciprocal_rank=sum(row.reciprocal_rank for row in rows) / len(rows),
    )


def meets(result: Place, label: Label) -> bool:
    """Whether a result is of the label's file and, where the label has lines, overlaps them."""
    if result.path != label.path:
        return False
    if label.start_line is None or label.end_line is None:
        return True
    return result.start_line <= label.end_line and label.start_line <= result.end_line


def _rank(results: Sequence[Place], label: Label) -> int:
    """1-based rank of the first result that meets it, 0 for none."""
    return next((rank for rank, result in enumerate(results, 1) if meets(result, label)), 0)


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
