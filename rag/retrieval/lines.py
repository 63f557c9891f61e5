"""Which chunks of a file answer: those that hold the question's words, are about it, define what it names, or are pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.index.best import best_of_each
from rag.retrieval.evidence import Evidence, Numbers
from rag.retrieval.matching import Floats
from rag.retrieval.pointed import Pointed
from rag.retrieval.setup.found import Setup
from rag.retrieval.signals import Weights

_CHOSEN_CHUNKS = 8  # of a file whose defined names decide which of them comes first
_TINY = 1e-9  # least that the best of a file is taken for


@dataclass(frozen=True, slots=True)
class Ordered:
    """Of k files the rows that answer best. `rows`: file by file, best first, ties by row; `shares`: the score of each against that of the
    file's first; `ends`: (k,) where those of each file end."""

    rows: list[int]
    shares: list[float]
    ends: list[int]


class Lines:
    """The chunks of files in the order in which they answer. `names`: (n,) how well those that each chunk defines meet the question.
    `meant`: rows that a qualified name means; `verbatim`: row -> what it gains by what stands there as the question says it. `setup`:
    where the question asks how the repository is set up.
    """

    def __init__(
        self,
        evidence: Evidence,
        names: Floats,
        pointed: Pointed,
        meant: frozenset[int],
        verbatim: Mapping[int, float],
        setup: Setup | None,
        weights: Weights,
    ) -> None:
        self._evidence = evidence
        self._names = names
        self._declared = setup.declared if setup is not None else None
        self._pointed = pointed.rows
        self._meant = meant
        self._verbatim = verbatim
        self._weights = weights

    def of_files(self, places: Sequence[int], most: int) -> Ordered:
        """Up to `most` rows of each file at these places."""
        chosen = np.array(places, dtype=np.int64)
        lengths = self._evidence.counts[chosen]
        owner, inside = _laid_out(lengths)
        at = self._evidence.starts[chosen][owner] + inside
        scores, rows = self._scores(chosen, owner, at), self._evidence.rows[at]
        pointed = self._pointed or self._meant or self._verbatim
        if self._weights.lines_names:
            best = _chosen(scores, owner, lengths)
            scores[best] += self._weights.lines_names * self._names[rows[best]]
            if not pointed and most <= _CHOSEN_CHUNKS:  # all others stay behind these
                scores, rows, owner = scores[best], rows[best], owner[best]
                lengths = np.minimum(lengths, _CHOSEN_CHUNKS)
                inside = _laid_out(lengths)[1]
        if pointed:
            scores += self._weights.lines_pointed * np.isin(rows, list(self._pointed))
            scores += self._weights.lines_meant * np.isin(rows, list(self._meant))
            if self._verbatim:
                scores += np.array([self._verbatim.get(row, 0.0) for row in rows.tolist()])
        first = np.lexsort((-scores, owner))[inside < most]
        ends = np.cumsum(np.minimum(lengths, most))
        scores, owner = scores[first], owner[first]
        top = np.maximum(scores[ends - np.minimum(lengths, most)], _TINY)
        return Ordered(rows[first].tolist(), (scores / top[owner]).tolist(), ends.tolist())

    def _scores(self, chosen: Numbers, owner: Numbers, at: Numbers) -> Floats:
        """Of the rows at these places, by words and by meaning, each against the best of its file; `owner`: which of the chosen that is."""
        evidence, weights = self._evidence, self._weights
        scores = evidence.sparse[at] / _divisor(evidence.words[chosen])[owner]
        scores *= weights.lines_sparse
        if evidence.dense is not None:
            scores += weights.lines_dense * (np.maximum(evidence.dense[at], 0.0) / _divisor(evidence.nearest[chosen])[owner])
        if self._declared is not None:
            scores += weights.lines_declared * np.array([self._declared.get(row, 0.0) for row in evidence.rows[at].tolist()])
        return scores


def _divisor(best: Floats) -> Floats:
    """What scores are divided by to be shares of the best; where that is nothing, so are they."""
    return np.where(best > 0, best, np.inf)


def _laid_out(lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Of so many rows of each file, one file after another: which file's a row is, and its place inside that."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    return owner, np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner]


def _chosen(scores: Floats, owner: Numbers, lengths: Numbers) -> Numbers:
    """Ascending, the places of the best few of each owner's scores, ties by place."""
    keys = owner * (2 * float(np.abs(scores).max(initial=0.0)) + 1) - scores  # one owner's lie before the next one's, the best first
    last = np.sort(keys)[np.cumsum(lengths) - lengths + np.minimum(lengths, _CHOSEN_CHUNKS) - 1]
    near = (keys <= last[owner]).nonzero()[0]  # sorting all places takes ten times as long as sorting all keys
    places = best_of_each(scores, near, owner, len(lengths), _CHOSEN_CHUNKS)
    chosen = places[places >= 0]
    chosen.sort()
    return chosen
