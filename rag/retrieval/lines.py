"""Which chunks of a file answer: those that hold the question's words, are about it, define what it names, or are pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rag.retrieval.evidence import Evidence
from rag.retrieval.matching import Floats
from rag.retrieval.pointed import Pointed
from rag.retrieval.setup.found import Setup
from rag.retrieval.signals import Weights

_CHOSEN_CHUNKS = 8  # of a file whose defined names decide which of them comes first


class Lines:
    """The chunks of files in the order in which they answer. `names`: (n,) how well those that each chunk defines meet the question.
    `meant`: rows that a qualified name means. `setup`: where the question asks how the repository is set up.
    """

    def __init__(
        self,
        evidence: Evidence,
        names: Floats,
        pointed: Pointed,
        meant: frozenset[int],
        literal: Mapping[int, float],
        setup: Setup | None,
        weights: Weights,
    ) -> None:
        self._evidence = evidence
        self._names = names
        self._weights = weights
        self._scores = weights.lines_sparse * evidence.scaled(evidence.sparse)
        if evidence.dense is not None:
            self._scores += weights.lines_dense * evidence.scaled(np.maximum(evidence.dense, 0.0))
        if evidence.said is not None:
            self._scores += weights.lines_said * evidence.said
        if setup is not None:
            self._scores += weights.lines_declared * np.array([setup.declared.get(row, 0.0) for row in evidence.rows.tolist()])
        self._pointed: Floats | None = np.zeros(len(evidence.rows)) if pointed.rows or meant or literal else None
        if self._pointed is not None:
            self._pointed += weights.lines_pointed * np.isin(evidence.rows, list(pointed.rows))
            self._pointed += weights.lines_meant * np.isin(evidence.rows, list(meant))
            self._pointed += weights.lines_literal * np.array([literal.get(row, 0.0) for row in evidence.rows.tolist()])

    def of_files(self, places: Sequence[int], most: int) -> list[list[tuple[int, float]]]:
        """Of each file at these places up to `most` rows, best first, ties by row, each with its score against that of the file's first."""
        chosen = np.array(places, dtype=np.int64)
        lengths = self._evidence.counts[chosen]
        owner, inside = _laid_out(lengths)
        at = self._evidence.starts[chosen][owner] + inside
        scores, rows = self._scores[at], self._evidence.rows[at]
        if self._weights.lines_names:
            best = _best_first(scores, owner)[inside < _CHOSEN_CHUNKS]
            scores[best] += self._weights.lines_names * self._names[rows[best]]
            if self._pointed is None and most <= _CHOSEN_CHUNKS:  # all others stay behind these
                best.sort()
                scores, rows, lengths = scores[best], rows[best], np.minimum(lengths, _CHOSEN_CHUNKS)
                owner, inside = _laid_out(lengths)
        if self._pointed is not None:
            scores += self._pointed[at]
        first = _best_first(scores, owner)[inside < most]
        ordered = iter(zip(rows[first].tolist(), scores[first].tolist(), strict=True))
        return [_against_the_first(list(islice(ordered, count))) for count in np.minimum(lengths, most).tolist()]


def _laid_out(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of so many rows of each file, one file after another: which file's a row is, and its place inside that."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    return owner, np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner]


def _best_first(scores: Floats, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of scores: those of the first owner, best first, ties by place, then those of the second."""
    order = (-scores).argsort(kind="stable")
    small = owner.astype(np.uint16) if len(owner) and owner[-1] < 1 << 16 else owner  # these are sorted in one go
    return order[small[order].argsort(kind="stable")]


def _against_the_first(scored: list[tuple[int, float]]) -> list[tuple[int, float]]:
    top = max(scored[0][1], 1e-9)
    return [(row, score / top) for row, score in scored]
