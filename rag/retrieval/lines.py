"""Which chunks of a file answer: those that hold the question's words, are about it, define what it names, or are pointed at."""

from __future__ import annotations

import numpy as np

from rag.retrieval import signals
from rag.retrieval.evidence import Evidence, first_of
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
        self, evidence: Evidence, names: Floats, pointed: Pointed, meant: frozenset[int], setup: Setup | None, weights: Weights
    ) -> None:
        self._evidence = evidence
        self._names = names
        self._weights = weights
        self._scores = weights.lines_sparse * evidence.scaled(evidence.sparse)
        if evidence.dense is not None:
            self._scores += weights.lines_dense * evidence.scaled(np.maximum(evidence.dense, 0.0))
        if setup is not None:
            self._scores += weights.lines_declared * np.array([setup.declared.get(row, 0.0) for row in evidence.rows.tolist()])
        self._pointed: Floats | None = np.zeros(len(evidence.rows)) if pointed.rows or meant else None
        if self._pointed is not None:
            self._pointed += weights.lines_pointed * np.isin(evidence.rows, list(pointed.rows))
            self._pointed += weights.lines_meant * np.isin(evidence.rows, list(meant))

    def of_file(self, place: int, most: int, weights: Weights) -> list[tuple[int, float]]:
        """Up to `most` rows of the file at a place, each with what the file's score is multiplied by, by these weights."""
        of_file = self._evidence.of_file(place)
        rows, scores = self._evidence.rows[of_file], self._scores[of_file].copy()
        if self._weights.lines_names:
            best = first_of(scores, _CHOSEN_CHUNKS)
            scores[best] += self._weights.lines_names * self._names[rows[best]]
        if self._pointed is not None:
            scores += self._pointed[of_file]
        order = first_of(scores, most)
        ordered: list[float] = scores[order].tolist()
        top = max(ordered[0], 1e-9)
        return [
            (row, signals.repeated(repeat, score / top, weights))
            for repeat, (row, score) in enumerate(zip(rows[order].tolist(), ordered, strict=True))
        ]
