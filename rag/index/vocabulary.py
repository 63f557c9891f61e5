"""The terms of a sparse index, sorted: a term's place is its column. Mapped from two files, so that opening one reads nothing."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


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
        """The column of a term, None for an unknown one. Bisects: twenty steps in a million terms."""
        wanted = encoded(word)
        low, high = 0, len(self._ends)
        while low < high:
            middle = (low + high) // 2
            if self._at(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._ends) and self._at(low) == wanted else None

    def _at(self, column: int) -> bytes:
        return self._blob[int(self._ends[column - 1]) if column else 0 : int(self._ends[column])]

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
