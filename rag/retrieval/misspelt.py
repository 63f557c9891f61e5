"""Slips of the keyboard: a word of the question that no chunk holds is read as the one that is meant, where the index holds that one
slip away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from string import ascii_lowercase

from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.retrieval.query import Query, Wording
from rag.retrieval.stop_words import FOREIGN_WORDS, STOP_WORDS, of_other_languages

SHORTEST = 6  # letters: shorter words have too many neighbours
OFTEN = 3  # chunks that hold what is meant
_MOST = 3  # words of a question
_PLAIN_WORD = re.compile(rf"(?<![\w./\\#:@$`'<-])[a-z]{{{SHORTEST},40}}(?![\w/\\(:#`<]|\.\w|-\w)")  # no name of anything

_BESIDE = {
    letter: set(row[max(0, at - 1) : at] + row[at + 1 : at + 2])
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, letter in enumerate(row)
}
_FORMS = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
    ("er", ""),
    ("er", "e"),
    ("ers", ""),
)

Knows = Callable[[str], bool]
"""Whether a word, in lower case, is one of the language."""


def doubtful(query: Query | Wording, knows: Knows) -> tuple[str, ...]:
    """The plain words of a short question that no dictionary has. Names are none, nor is what was asked for as a bare symbol."""
    if query.long is not None or query.symbol:
        return ()
    found = dict.fromkeys(word for word in _PLAIN_WORD.findall(query.text) if word not in STOP_WORDS and not _known(word, knows))
    if found and of_other_languages(query.text.lower().split()):
        found = {word: None for word in found if word not in FOREIGN_WORDS}
    return tuple(found)


def _known(word: str, knows: Knows) -> bool:
    """Whether a word or what it is a form of is one of the language."""
    return knows(word) or any(word.endswith(ending) and (knows(word.removesuffix(ending) + instead)) for ending, instead in _FORMS)


def read_as(query: Query, knows: Knows, whole: SparseIndex, stems: SparseIndex) -> dict[str, str]:
    """Word of the question -> what it is read as. `whole`, `stems`: the index over both forms of the terms."""
    read: dict[str, str] = {}
    for word in doubtful(query, knows):
        if len(read) < _MOST and not len(whole.holders(word)) and not len(stems.holders(stem(word))):
            held = {meant: len(whole.holders(meant)) for meant in set(_neighbours(word))}
            best = max(sorted(held), key=lambda meant: held[meant])
            if held[best] >= OFTEN:
                read[word] = best
    return read


def corrected(query: Query, read: dict[str, str]) -> Query:
    """The query with words replaced, in its text and in its terms."""
    if not read:
        return query

    def put(text: str) -> str:
        return _PLAIN_WORD.sub(lambda found: read.get(found[0], found[0]), text)

    terms = tuple(read.get(term, term) for term in query.terms)
    return replace(query, text=put(query.text), embedded=put(query.embedded), terms=terms, stems=tuple(map(stem, terms)))


def _neighbours(word: str) -> Iterator[str]:
    """What the word may have been before a slip: two letters swapped, one left out, one struck twice or with the key beside it, one struck
    for the key beside it. No other letters are mistaken for each other, or "linting" would be read as "listing"; and the first is seldom
    missed."""
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in ascii_lowercase:
            yield head + letter + tail
        if not tail:
            break
        beside = _BESIDE[tail[0]]
        for letter in beside:
            yield head + letter + tail[1:]
        if word[at - 1] in (tail[0], *beside) or (len(tail) > 1 and tail[1] in (tail[0], *beside)):
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
