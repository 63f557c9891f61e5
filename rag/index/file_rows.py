"""Which rows of an index belong to which file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Files:
    """`starts`, `ends`: (f,) int64, file i has rows starts[i] to ends[i] - 1. `prose`: (f,) whether people read it as prose.
    `numbers`: (n,) int32, the file of each row."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    prose: NDArray[np.bool_]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, numbers: NDArray[np.int32], count: int, prose_rows: NDArray[np.bool_]) -> Files:
        """`numbers`: (n,) ascending: a file's chunks stand together, in the order of the files.

        Raises: ValueError where they do not.
        """
        if len(numbers) and bool((np.diff(numbers) < 0).any()):
            raise ValueError("the chunks of a file do not stand together")
        starts = np.searchsorted(numbers, np.arange(count)).astype(np.int64)
        ends = np.searchsorted(numbers, np.arange(count), side="right").astype(np.int64)
        return cls(starts, ends, prose_rows[starts] if count else np.zeros(0, np.bool_), numbers)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def prose_rows(self) -> NDArray[np.bool_]:
        """(n,)"""
        return self.prose[self.numbers]

    def best(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(f,) the best of each file's rows, of (n,) scores."""
        return np.maximum.reduceat(scores, self.starts) if len(self) else np.zeros(0)
