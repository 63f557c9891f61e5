"""The names that each chunk defines, readable without the chunk, and the chunks that define a name."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rag.index.name_words import NameWords
from rag.index.vocabulary import encoded

logger = logging.getLogger(__name__)

_WORDS = "name_words.npz"
_BETWEEN = b"\n"  # of a row's names: no name holds it


class DefinedNames:
    """Rows 0..n-1. `blob`: the names of all rows in UTF-8, a newline after each; `ends`: (n,) int64, where each row's end. `words`: the
    file of their `NameWords`, which an index made by an earlier version has not.
    """

    def __init__(self, blob: bytes, ends: NDArray[np.int64], words: Path | None = None) -> None:
        self._blob = blob
        self._ends = ends
        self._words = words
        self._bounds = [0, *ends.tolist()]  # a list is quicker to look into

    def __len__(self) -> int:
        return len(self._ends)

    @classmethod
    def of(cls, names: Sequence[Sequence[str]]) -> DefinedNames:
        rows = [b"".join(encoded(" ".join(name.split("\n"))) + _BETWEEN for name in of_row) for of_row in names]
        return cls(b"".join(rows), np.cumsum([len(row) for row in rows], dtype=np.int64))

    @classmethod
    def write(cls, directory: Path, names: Sequence[Sequence[str]]) -> None:
        """Raises: OSError."""
        made = cls.of(names)
        (directory / "defines.bin").write_bytes(made._blob)
        np.save(directory / "defines_ends.npy", made._ends)
        made.words.save(directory / _WORDS)

    @classmethod
    def open(cls, directory: Path) -> DefinedNames:
        """Raises: OSError, ValueError (the two files do not fit together)."""
        blob = (directory / "defines.bin").read_bytes()
        ends = np.load(directory / "defines_ends.npy", allow_pickle=False)
        if ends.ndim != 1 or ends.dtype != np.int64 or (int(ends[-1]) if len(ends) else 0) != len(blob):
            raise ValueError("the defined names are not whole")
        return cls(blob, ends, directory / _WORDS)

    def of_row(self, row: int) -> tuple[str, ...]:
        """As `Chunk.defines`. Raises: IndexError."""
        start, end = self._bounds[row], self._bounds[row + 1]
        return tuple(_decoded(self._blob[start:end]).split("\n")[:-1]) if start < end else ()

    def defining(self, name: str) -> NDArray[np.int64]:
        """The rows that define a name, ascending, upper and lower case alike."""
        return np.asarray(self._rows_by_name.get(name.lower(), ()), dtype=np.int64)

    @cached_property
    def _rows_by_name(self) -> dict[str, list[int]]:
        """Made when it is first asked for: hundredths of a second at 50,000 chunks."""
        found: dict[str, list[int]] = {}
        names, rows = self._all
        for name, row in zip(names, rows.tolist(), strict=True):
            name = name.lower()
            known = found.setdefault(name, [])
            if not known or known[-1] != row:
                known.append(row)
        return found

    @cached_property
    def words(self) -> NameWords:
        """Read when it is first asked for, or made: tenths of a second at 50,000 chunks."""
        if self._words is not None and self._words.is_file():
            try:
                return NameWords.open(self._words)
            except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
                logger.warning("the words of names are made anew: %s", error)
        return NameWords.of(*self._all)

    @property
    def _all(self) -> tuple[list[str], NDArray[np.int64]]:
        """(k,) the names, and the row of each, ascending."""
        ends_of_names = np.flatnonzero(np.frombuffer(self._blob, dtype=np.uint8) == _BETWEEN[0])
        return _decoded(self._blob).split("\n")[:-1], np.searchsorted(self._ends, ends_of_names, side="right")


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")
