"""Which chunks of a file answer: those that hold the question's words, are about it, define what it names, or are pointed at."""

from __future__ import annotations

from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from rag.index.defined_names import DefinedNames
from rag.retrieval import signals
from rag.retrieval.evidence import Evidence, first_of
from rag.retrieval.paths import split_words
from rag.retrieval.pointed import Pointed
from rag.retrieval.signals import Asked, Floats, Weights

_CHOSEN_CHUNKS = 8  # of a file whose defined names decide which of them comes first


class NamesMet(dict[int, float]):
    """Row -> how well the best of the names that a chunk defines meets the question, F1, 0 to 1; found when it is first looked up."""

    def __init__(self, defines: DefinedNames, asked: Asked) -> None:
        super().__init__()
        self._defines = defines
        self._asked = asked
        self._by_name: dict[str, float] = {}

    def __missing__(self, row: int) -> float:
        known, best = self._by_name, 0.0
        for name in self._defines.of_row(row):
            met = known.get(name)
            if met is None:
                met = known[name] = self._asked.match(split_words(name)).f1
            if met > best:
                best = met
        self[row] = best
        return best


class Lines:
    """The chunks of files in the order in which they answer."""

    def __init__(self, evidence: Evidence, names: NamesMet, pointed: Pointed, weights: Weights) -> None:
        self._evidence = evidence
        self._names = names
        self._weights = weights
        self._scores = weights.lines_sparse * evidence.scaled(evidence.sparse)
        if evidence.dense is not None:
            self._scores += weights.lines_dense * evidence.scaled(np.maximum(evidence.dense, 0.0))
        self._pointed = weights.lines_pointed * np.isin(evidence.rows, list(pointed.rows)) if pointed.rows else None

    def of_file(self, place: int, most: int) -> list[tuple[int, float]]:
        """Up to `most` rows of the file at a place, each with what the file's score is multiplied by."""
        of_file = self._evidence.of_file(place)
        rows, scores = self._evidence.rows[of_file], self._scores[of_file].copy()
        if self._weights.lines_names:
            self._add_names(rows, scores, most if self._pointed is None else _CHOSEN_CHUNKS)
        if self._pointed is not None:
            scores += self._pointed[of_file]
        order = first_of(scores, most)
        ordered = scores[order].tolist()
        best = max(ordered[0], 1e-9)
        return [
            (row, signals.repeated(repeat, score / best, self._weights))
            for repeat, (row, score) in enumerate(zip(rows[order].tolist(), ordered, strict=True))
        ]

    def _add_names(self, rows: NDArray[np.int64], scores: Floats, most: int) -> None:
        """Adds to the scores of a file's rows what their names say, of so few that the best `most` are known."""
        weight = self._weights.lines_names
        best: list[float] = []  # the highest `most` so far, the least of them first
        for position in first_of(scores, _CHOSEN_CHUNKS).tolist():
            score = float(scores[position])
            if len(best) == most and score + weight < best[0]:
                return  # nor do those after it, whose names are not even looked up
            scores[position] = score = score + weight * self._names[int(rows[position])]
            (heappushpop if len(best) == most else heappush)(best, score)
