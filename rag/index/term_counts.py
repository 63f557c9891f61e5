"""How often each chunk holds each term, counted chunk by chunk while others are still being cut."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag.index.tokens import LONGEST, terms, word_terms, words
from rag.types import Chunk

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BLOCK = 1 << 20  # terms that are held one by one before they are counted
_REMEMBERED = 400_000


def chunk_terms(chunk: Chunk) -> list[str]:
    """What BM25 counts of a chunk: its lines, and by weight what it is about, a field's weight being how often it is repeated:
    file stem 2, directories 1, defined names 2, enclosing scope 1.
    """
    return [term for text, times in _fields(chunk) for term in times * terms(text)]


def _fields(chunk: Chunk) -> tuple[tuple[str, int], ...]:
    path = PurePosixPath(chunk.path)
    return (chunk.text, 1), (path.stem, 2), (" ".join(path.parts[:-1]), 1), (" ".join(chunk.defines), 2), (chunk.scope, 1)


class Counted(Protocol):
    """`columns`: term -> column, in order of first sight. `lengths`: by row, its terms, repeated ones included."""

    @property
    def columns(self) -> dict[str, int]: ...

    @property
    def lengths(self) -> list[int]: ...

    def matrix(self) -> csr_matrix:
        """(rows, terms) int32, how often each row holds each term."""
        ...


class TermCounts:
    """A matrix (chunks × terms) of counts that grows by rows.

    `columns`: term -> column, in order of first sight. `lengths`: by chunk, its terms, repeated ones included. Words repeat: each is
    taken apart once, and a chunk's terms are joined and counted without a step of the interpreter for each.
    """

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.lengths: list[int] = []
        self._words = _WordColumns(self.columns)
        self._block = array("i")
        self._block_lengths: list[int] = []
        self._columns_of_rows = bytearray()
        self._counts = bytearray()
        self._distinct = bytearray()

    def add(self, chunk: Chunk) -> None:
        """The next row: the counts of `chunk_terms`."""
        size = len(self._block)
        for text, times in _fields(chunk):
            if text:
                found = list(chain.from_iterable(map(self._words.__getitem__, words(text))))
                self._block.extend(times * found)
        self._end_row(len(self._block) - size)

    def add_terms(self, terms_of_chunk: Sequence[str]) -> None:
        """The next row, from ready terms."""
        self._block.extend(_columns_of(terms_of_chunk, self.columns))
        self._end_row(len(terms_of_chunk))

    def matrix(self) -> csr_matrix:
        """(chunks, terms) int32 with what was added so far."""
        from scipy.sparse import csr_matrix  # see rag.index.sparse

        self._count()
        ends = np.concatenate(([0], np.cumsum(np.frombuffer(self._distinct, dtype=np.int32), dtype=np.int64)))
        counts, columns = (np.frombuffer(values, dtype=np.int32) for values in (self._counts, self._columns_of_rows))
        return csr_matrix((counts, columns, ends), shape=(len(self.lengths), len(self.columns)))

    def folded(self, fold: Callable[[str], str]) -> Counted:
        """The same rows over folded terms: the counts of those that fold to the same are added up."""
        columns: dict[str, int] = {}
        place = np.fromiter((columns.setdefault(fold(name), len(columns)) for name in self.columns), np.int32, len(self.columns))
        counts = self.matrix()
        from scipy.sparse import csr_matrix

        matrix = csr_matrix((counts.data.copy(), place[counts.indices], counts.indptr.copy()), shape=(counts.shape[0], len(columns)))
        matrix.sum_duplicates()
        return CountedMatrix(columns, self.lengths, matrix)

    def _end_row(self, length: int) -> None:
        self.lengths.append(length)
        self._block_lengths.append(length)
        if len(self._block) >= _BLOCK:
            self._count()

    def _count(self) -> None:
        """Adds up what is held one by one."""
        from scipy.sparse import csr_matrix

        ends = np.concatenate(([0], np.cumsum(self._block_lengths, dtype=np.int64)))
        columns = np.frombuffer(self._block, dtype=np.int32).copy()
        rows = csr_matrix((np.ones(len(columns), dtype=np.int32), columns, ends), shape=(len(self._block_lengths), len(self.columns)))
        rows.sum_duplicates()
        self._columns_of_rows += rows.indices.astype(np.int32).tobytes()
        self._counts += rows.data.tobytes()
        self._distinct += np.diff(rows.indptr).astype(np.int32).tobytes()
        self._block, self._block_lengths = array("i"), []


@dataclass(frozen=True, slots=True)
class CountedMatrix:
    """Counts that are there already."""

    columns: dict[str, int]
    lengths: list[int]
    counts: csr_matrix

    def matrix(self) -> csr_matrix:
        return self.counts


class _WordColumns(dict[str, tuple[int, ...]]):
    """Word -> columns of its terms, found on first sight."""

    def __init__(self, columns: dict[str, int]) -> None:
        super().__init__()
        self._columns = columns

    def __missing__(self, word: str) -> tuple[int, ...]:
        found = tuple(_columns_of(word_terms(word), self._columns))
        if len(word) <= LONGEST:  # longer ones are data that does not come again
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = found
        return found


def _columns_of(names: Iterable[str], columns: dict[str, int]) -> list[int]:
    return [columns.setdefault(name, len(columns)) for name in names]
