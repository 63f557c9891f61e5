"""The words inside the names that chunks define, the other way round: word -> the names that hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.index.tokens import split_words
from rag.index.vocabulary import encoded

BEGINNING = 3  # letters by which words are looked up


@dataclass(frozen=True, slots=True)
class NameWords:
    """k names in the order of the rows that define them. `rows`: (k,) those; `lengths`: (k,) words in each. `beginnings`: the first letters
    -> the words that begin so, each with its number. Word i is held by the names `holders[starts[i] : starts[i + 1]]`.
    """

    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    beginnings: Mapping[str, Sequence[tuple[str, int]]]
    holders: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], rows: NDArray[np.int64]) -> NameWords:
        """Made in one go: a tenth of a second at 50,000 chunks."""
        return cls.of_words([split_words(name) for name in names], rows)

    @classmethod
    def of_words(cls, split: Sequence[Sequence[str]], rows: NDArray[np.int64]) -> NameWords:
        """The same of names that are words already."""
        numbers: dict[str, int] = {}
        entries = np.fromiter((numbers.setdefault(word, len(numbers)) for words in split for word in words), np.int64)
        lengths = np.fromiter(map(len, split), np.int64, len(split))
        order = np.argsort(entries, kind="stable")
        starts = np.searchsorted(entries[order], np.arange(len(numbers) + 1))
        return cls(rows, lengths, _by_beginning(numbers), np.repeat(np.arange(len(split)), lengths)[order], starts)

    def save(self, path: Path) -> None:
        """Raises: OSError."""
        words = [""] * (len(self.starts) - 1)
        for of_one in self.beginnings.values():
            for word, number in of_one:
                words[number] = word
        text = np.frombuffer(encoded("\n".join(words)), dtype=np.uint8)
        np.savez(path, words=text, rows=self.rows, lengths=self.lengths, holders=self.holders, starts=self.starts)

    @classmethod
    def open(cls, path: Path) -> NameWords:
        """A hundredth of a second at 50,000 chunks. Raises: OSError, ValueError, KeyError (not as it was written)."""
        with np.load(path, allow_pickle=False) as file:
            rows, lengths, holders, starts = (file[name] for name in ("rows", "lengths", "holders", "starts"))
            text = file["words"].tobytes().decode("utf-8", "surrogatepass")
        words = text.split("\n") if text else []
        if len(starts) != len(words) + 1 or len(rows) != len(lengths) or int(starts[-1]) != len(holders):
            raise ValueError("the words of names are not whole")
        return cls(rows, lengths, _by_beginning(words), holders, starts)

    def holding(self, word: int) -> NDArray[np.int64]:
        """The names that hold a word, ascending."""
        return self.holders[self.starts[word] : self.starts[word + 1]]


def _by_beginning(words: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """The words, numbered in their order, by their first letters."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, word in enumerate(words):
        found.setdefault(word[:BEGINNING], []).append((word, number))
    return found
