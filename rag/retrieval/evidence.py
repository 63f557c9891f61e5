"""The text scores of the best files: gathered once for a question and a group of files, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.file_rows import Files
from rag.retrieval.similarity import Similarity

FILES = 50  # of each retriever whose chunks are all scored; more change nothing that is seen
_TOP = 3  # chunks that speak for a file
_FEW = 128  # scores that are sorted as quickly as picked from

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """k files with their m chunks. `files`: (k,) ascending; `rows`: (m,) ascending; `starts`: (k,) where each file's begin in `rows`;
    `owner`: (m,) the place in `files` of each row's.

    `sparse`: (m,) word scores, the best of the repository 1. `dense`: (m,) similarities of which an unrelated chunk has 0 and the best 1,
    None where nothing was searched by meaning. `said`: (m,) how much of the question stands in each word by word, None for nothing.
    """

    files: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    owner: NDArray[np.int64]
    sparse: Floats
    dense: Floats | None
    said: Floats | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """(k,) chunks of each file."""
        return np.diff(self.starts, append=len(self.rows))

    def best(self, scores: Floats) -> Floats:
        """(k,) of (m,) scores the best of each file."""
        best: Floats = np.maximum.reduceat(scores, self.starts)
        return best

    def scaled(self, scores: Floats) -> Floats:
        """(m,) scores divided by the best of their file, 0 where that has none above 0."""
        best = self.best(scores)
        return scores / np.where(best > 0, best, np.inf)[self.owner]

    def first_of_each(self, scores: Floats, most: int) -> list[NDArray[np.int64]]:
        """Of (m,) scores, (k,) the places of each file's best, then of its second best, up to `most`; ties by place; -1 for none."""
        left = scores.copy()
        found = []
        for _ in range(most):
            highest = self.best(left)
            at = ((left == highest[self.owner]) & np.isfinite(left)).nonzero()[0]
            files, first = np.unique(self.owner[at], return_index=True)
            places = np.full(len(self.files), -1)
            places[files] = at[first]
            left[at[first]] = -np.inf
            found.append(places)
        return found


def gather(
    files: Files,
    group: NDArray[np.bool_],
    best: Floats,
    sparse: Floats,
    allowed: NDArray[np.bool_] | None,
    found: Sequence[NDArray[np.int32]],
    extra: NDArray[np.int64],
    similarity: Similarity | None,
) -> Evidence:
    """`group`: (f,) files that may be results. `sparse`: (n,) scores, nothing where a chunk may not be found, `best`: (f,) of each file;
    `allowed`: (n,) those that may, None for all. `found`: the file of each row that a retriever brought, best first; `extra`: files that
    are scored whatever they hold.
    """
    chosen = [_best_files(group, best), extra[group[extra]]]
    chosen += [np.fromiter(dict.fromkeys(numbers[group[numbers]].tolist()), np.int64)[:FILES] for numbers in found]
    return _evidence(files, np.unique(np.concatenate(chosen)), sparse, allowed, similarity)


def rows_by_words(files: Files, best: Floats, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """The rows of both groups that `gather` brings whatever is found by meaning, ascending. `best`, `allowed`: as there."""
    chosen = np.sort(np.concatenate([_best_files(group, best) for group in (~files.prose, files.prose)]))
    rows = _rows_of(files, chosen)[0]
    return rows if allowed is None else rows[allowed[rows]]


def _best_files(group: NDArray[np.bool_], best: Floats) -> NDArray[np.int64]:
    holding = np.flatnonzero(group & (best > 0))
    return holding[first_of(best[holding], FILES)]


def _rows_of(files: Files, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the chosen files, where each file's begin among them, and which of the files each row is of."""
    lengths = files.ends[chosen] - files.starts[chosen]
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(chosen)), lengths)
    return np.arange(len(owner)) + (files.starts[chosen] - starts)[owner], starts, owner


def _evidence(
    files: Files, chosen: NDArray[np.int64], sparse: Floats, allowed: NDArray[np.bool_] | None, similarity: Similarity | None
) -> Evidence:
    rows, starts, owner = _rows_of(files, chosen)
    if allowed is not None:
        kept = allowed[rows]
        present, starts, owner = np.unique(owner[kept], return_index=True, return_inverse=True)
        rows, chosen = rows[kept], chosen[present]
    return Evidence(chosen, rows, starts, owner, sparse[rows], None if similarity is None else similarity.of(rows))


def first_of(scores: Floats, limit: int) -> NDArray[np.int64]:
    """Places of the best `limit` scores, best first, ties by place."""
    if limit >= len(scores) or len(scores) <= _FEW:
        return (-scores).argsort(kind="stable")[:limit]
    sorted_from = scores.copy()
    sorted_from.partition(len(scores) - limit)
    places: NDArray[np.int64] = (scores >= sorted_from[len(scores) - limit]).nonzero()[0]  # all that tie with the last
    return places[(-scores[places]).argsort(kind="stable")][:limit]


def file_means(evidence: Evidence, scores: Floats) -> Floats:
    """(k,) half the best chunk's score, half the mean of the best three (of as many as there are)."""
    left = scores.copy()
    best = evidence.best(scores)
    sums, taken = np.zeros(len(best)), np.zeros(len(best))
    for _ in range(_TOP):  # a pass for each value, which several chunks may have
        highest = evidence.best(left)
        at = left == highest[evidence.owner]
        times = np.minimum(np.add.reduceat(at, evidence.starts, dtype=np.int64), _TOP - taken)
        more = (times > 0) & np.isfinite(highest)
        sums[more] += times[more] * highest[more]
        taken[more] += times[more]
        left[at] = -np.inf
    return 0.5 * best + 0.5 * sums / taken
