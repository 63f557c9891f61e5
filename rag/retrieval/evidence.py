"""The text scores of the best files: gathered once for a question, of code and prose together, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag.index.best import best_of_each, first_of, near_best_of_each
from rag.index.file_rows import Files
from rag.retrieval.similarity import Similarity

FILES = 50  # of each retriever whose chunks are all scored; more change nothing that is seen
TOP = 3  # chunks that speak for a file

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """k files with their m chunks. `files`: (k,) numbers; `rows`: (m,) file by file, ascending in each; `starts`: (k,) where each file's
    begin in `rows`; `owner`: (m,) the place in `files` of each row's.

    `sparse`: (m,) word scores, the best of the repository 1. `dense`: (m,) similarities of which an unrelated chunk has 0 and the best 1,
    None where nothing was searched by meaning. `near`: places among which each file's most similar three are, None where that is unknown.
    """

    files: Numbers
    rows: Numbers
    starts: Numbers
    owner: Numbers
    sparse: Floats
    dense: Floats | None
    near: Numbers | None = None

    @cached_property
    def counts(self) -> Numbers:
        """(k,) chunks of each file."""
        return np.diff(self.starts, append=len(self.rows))

    @cached_property
    def text(self) -> Floats:
        """(m,) the chunks' scores by words and by meaning."""
        return self.sparse if self.dense is None else 0.5 * self.sparse + 0.5 * np.maximum(self.dense, 0.0)

    @cached_property
    def words(self) -> Floats:
        """(k,) the best of each file's word scores."""
        return self.best(self.sparse)

    @cached_property
    def nearest(self) -> Floats:
        """(k,) the best of each file's similarities, of its word scores where there are none."""
        return self.words if self.dense is None else self.best(self.dense)

    @cached_property
    def best_text(self) -> Floats:
        """(k,) the best of each file's scores by both."""
        return self.best(self.text)

    @cached_property
    def sums(self) -> Floats:
        """(k,) the sum of each file's scores by both."""
        sums: Floats = np.add.reduceat(self.text, self.starts)
        return sums

    @cached_property
    def meaning(self) -> Floats | None:
        """(k,) half the best chunk's similarity, half the mean of the best three (of as many as there are)."""
        if self.dense is None:
            return None
        best = self.first_of_each(self.dense, TOP, self.near)
        there = best >= 0
        similar = np.where(there, self.dense[best], 0.0)
        means: Floats = 0.5 * similar[:, 0] + 0.5 * similar.sum(axis=1) / there.sum(axis=1)
        return means

    def best(self, scores: Floats) -> Floats:
        """(k,) of (m,) scores the best of each file."""
        best: Floats = np.maximum.reduceat(scores, self.starts)
        return best

    def first_of_each(self, scores: Floats, most: int, near: Numbers | None = None) -> Numbers:
        """(k, most) of (m,) scores the places of each file's best, best first, ties by place, -1 for none. `near`: places among which they
        are, where these are known."""
        if near is None:
            near = near_best_of_each(scores, self.starts, self.owner, most)
        return best_of_each(scores, near, self.owner, len(self.files), most)

    def halves(self, count: int) -> tuple[Evidence, Evidence]:
        """The first `count` files and the others. What is known of each file is found for all of them in one go."""
        middle = int(self.starts[count]) if count < len(self.files) else len(self.rows)
        return self._part(slice(0, count), slice(0, middle)), self._part(slice(count, None), slice(middle, None))

    def _part(self, files: slice, rows: slice) -> Evidence:
        first_file, first_row = files.start, rows.start
        part = Evidence(
            self.files[files],
            self.rows[rows],
            self.starts[files] - first_row,
            self.owner[rows] - first_file,
            self.sparse[rows],
            None if self.dense is None else self.dense[rows],
        )
        if len(part.files):
            known = {name: getattr(self, name)[files] for name in ("counts", "words", "nearest", "best_text", "sums")}
            meaning = self.meaning
            part.__dict__.update(known, text=self.text[rows], meaning=None if meaning is None else meaning[files])
        return part


def gather(
    files: Files,
    best: Floats,
    sparse: Floats,
    allowed: NDArray[np.bool_] | None,
    found: Sequence[NDArray[np.int32]],
    extra: tuple[Numbers, Numbers],
    similarity: Similarity | None,
) -> Evidence:
    """Code, then prose. `sparse`: (n,) scores, nothing where a chunk may not be found, `best`: (f,) of each file; `allowed`: (n,) those
    that may, None for all. `found`: the file of each row that a retriever brought, best first; `extra`: files of code and of prose that
    are scored whatever they hold.
    """
    chosen = [
        np.unique(np.concatenate([_best_files(group, best), more[group[more]], *(_first_files(group, numbers) for numbers in found)]))
        for group, more in zip((~files.prose, files.prose), extra, strict=True)
    ]
    return _evidence(files, np.concatenate(chosen), sparse, allowed, similarity)


def _best_files(group: NDArray[np.bool_], best: Floats) -> Numbers:
    holding = (group & (best > 0)).nonzero()[0]
    return holding[first_of(best[holding], FILES)]


def _first_files(group: NDArray[np.bool_], numbers: NDArray[np.int32]) -> Numbers:
    """Of the files of rows, best first, the first of the group."""
    return np.fromiter(dict.fromkeys(numbers[group[numbers]].tolist()), np.int64)[:FILES]


def _rows_of(files: Files, chosen: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The rows of the chosen files, where each file's begin among them, and which of the files each row is of."""
    lengths = files.ends[chosen] - files.starts[chosen]
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(chosen)), lengths)
    return np.arange(len(owner)) + (files.starts[chosen] - starts)[owner], starts, owner


def _evidence(files: Files, chosen: Numbers, sparse: Floats, allowed: NDArray[np.bool_] | None, similarity: Similarity | None) -> Evidence:
    rows, starts, owner = _rows_of(files, chosen)
    if allowed is not None:
        kept = allowed[rows]
        present, starts, owner = np.unique(owner[kept], return_index=True, return_inverse=True)
        rows, chosen = rows[kept], chosen[present]
    dense, near = (None, None) if similarity is None else similarity.of_files(rows, starts, owner, TOP)
    return Evidence(chosen, rows, starts, owner, sparse[rows], dense, near)
