"""The question's terms against words of paths and names: which of them meet, and how much of the question that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.index.name_words import BEGINNING
from rag.index.stems import stem
from rag.retrieval.tongues import CODES

T = TypeVar("T")
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FIRST = BEGINNING  # letters that words have in common if one is the beginning of the other, or a relative
_NONE: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """How k names meet the question. `precision`: (k,) share of its words that meet a term. `coverage`: share of the question's importance
    that they hold."""

    precision: Floats
    coverage: Floats

    def of(self, files: NDArray[np.int64]) -> Matches:
        """Those of some of them alone."""
        return Matches(self.precision[files], self.coverage[files])


class Asked:
    """The question's terms, each as important as it is rare. `importance`: of a term, positive."""

    def __init__(self, terms: Iterable[str], importance: Callable[[str], float]) -> None:
        self.importance = {term: importance(term) for term in dict.fromkeys(terms)}
        self.all = sum(self.importance.values()) or 1.0
        self._meeting = _Meeting(self.importance)

    def near(self, words: Mapping[str, Sequence[tuple[str, T]]]) -> list[tuple[str, T]]:
        """Of words by their first three letters, those that may meet a term."""
        return [entry for beginning, may_meet in self._meeting.tests() for entry in words.get(beginning, ()) if may_meet(entry[0])]

    def meeting(self, word: str) -> tuple[str, ...]:
        """The terms that a word meets."""
        return self._meeting[word]


class _Meeting(dict[str, tuple[str, ...]]):
    """A word -> the terms that it meets, found when it is first looked up."""

    def __init__(self, terms: Iterable[str]) -> None:
        super().__init__()
        # First letters -> (term, its stem, or the code of a language): what differs in them does not meet.
        self._near: dict[str, list[tuple[str, str]]] = {}
        for term in terms:
            self._near.setdefault(term[:_FIRST], []).append((term, stem(term)))
            if code := CODES.get(term):
                self._near.setdefault(code, []).append((term, code))

    def tests(self) -> Iterator[tuple[str, Callable[[str], bool]]]:
        """First letters, and what a word that begins so passes if it meets a term: the form without its endings begins either."""
        for beginning, terms in self._near.items():
            bare = tuple(of_term for _, of_term in terms)
            begun = {term[:length] for term, _ in terms for length in range(_FIRST, len(term))}
            yield beginning, partial(_may_meet, bare, begun)

    def __missing__(self, word: str) -> tuple[str, ...]:
        near, met = self._near.get(word[:_FIRST]), _NONE
        if near is not None:
            bare = stem(word)
            met = tuple(term for term, of_term in near if bare == of_term or _begins(word, term))
        self[word] = met
        return met


def _may_meet(bare: tuple[str, ...], begun: set[str], word: str) -> bool:
    return word.startswith(bare) or word in begun


def _begins(word: str, term: str) -> bool:
    """Whether one is the beginning of the other: config and configuration."""
    return min(len(word), len(term)) >= _FIRST and (word.startswith(term) or term.startswith(word))
