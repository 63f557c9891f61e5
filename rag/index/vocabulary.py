"""The terms of a sparse index, sorted: a term's place is its column. Mapped from two files, so that opening one reads nothing."""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_STEP = 64  # words between those that are kept in memory


def encoded(word: str) -> bytes:
    """UTF-8 that keeps lone surrogates apart."""
    return word.encode("utf-8", "surrogatepass")


class Vocabulary:
    """`blob`: the terms in UTF-8, sorted by their bytes, one after the other; `ends`: where each ends."""

    def __init__(self, blob: bytes | mmap.mmap, ends: NDArray[np.int64]) -> None:
        self._blob = blob
        self._ends = ends

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """`words`: distinct, sorted by `encoded`."""
        parts = [encoded(word) for word in words]
        return cls(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64))

    def __len__(self) -> int:
        return len(self._ends)

    def find(self, word: str) -> int | None:
        """The column of a term, None for an unknown one. Bisects: twenty steps in a million terms, all but six among those in memory."""
        wanted = encoded(word)
        first = (bisect_right(self._sample, wanted) - 1) * _STEP
        if first < 0:
            return None
        start, *ends = ([0] if not first else []) + self._ends[max(first - 1, 0) : first + _STEP].tolist()
        low, high = 0, len(ends)
        bounds = [start, *ends]
        while low < high:
            middle = (low + high) // 2
            if self._blob[bounds[middle] : bounds[middle + 1]] < wanted:
                low = middle + 1
            else:
                high = middle
        return first + low if low < len(ends) and self._blob[bounds[low] : bounds[low + 1]] == wanted else None

    @cached_property
    def _sample(self) -> list[bytes]:
        """Every so many words, read when a word is first looked up: milliseconds."""
        starts = [0, *self._ends[_STEP - 1 :: _STEP].tolist()]
        ends = self._ends[::_STEP].tolist()
        return [self._blob[start:end] for start, end in zip(starts, ends, strict=False)]

    def save(self, directory: Path) -> None:
        (directory / "terms.bin").write_bytes(self._blob[:])
        np.save(directory / "term_ends.npy", self._ends)

    @classmethod
    def open(cls, directory: Path) -> Vocabulary:
        """Raises: OSError, ValueError (the two files do not fit together)."""
        ends = np.asarray(np.load(directory / "term_ends.npy", mmap_mode="r", allow_pickle=False))  # still mapped, quicker to look into
        path = directory / "terms.bin"
        size = path.stat().st_size
        if ends.ndim != 1 or ends.dtype != np.int64 or (int(ends[-1]) if len(ends) else 0) != size:
            raise ValueError("the vocabulary is not whole")
        if not size:  # an empty file cannot be mapped
            return cls(b"", ends)
        with path.open("rb") as file:
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), ends)
