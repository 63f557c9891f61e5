"""Text to the terms that BM25 counts: identifiers whole and in parts, lower case, no stop words removed."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
# An acronym before a capitalised word ("HTTP" of "HTTPServer"), a capitalised or lower-case word, capitals, digits.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_FOREIGN_PART = re.compile(r"[^\W\d_]+|\d+")  # re knows no classes for the capitals of all scripts
LONGEST = 100  # characters; longer words are encoded data, of which only the parts are kept


def terms(text: str) -> list[str]:
    """The terms in order of the text: each word whole, then its parts where it has several.

    "getHTTPResponse" gives getHTTPResponse, get, http, response, all in lower case; "__init__" gives __init__ and init.
    Parts alone rank worse than both (reference: 0.03 of NDCG@10).
    """
    found: list[str] = []
    for word in words(text):
        found += word_terms(word)
    return found


def words(text: str) -> list[str]:
    """The words in order of the text, as they are written; the terms of a text are those of its words."""
    return _WORD.findall(text)


def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one word."""
    return _terms_of(word) if len(word) <= LONGEST else _parts(word)


@lru_cache(maxsize=100_000)
def split_words(text: str) -> tuple[str, ...]:
    """The distinct parts of all words, lower case: "HTTPServer_test" -> http, server, test."""
    return tuple(dict.fromkeys(part for word in words(text) for part in (word_terms(word)[1:] or word_terms(word))))


# Words repeat: in source text, nine of ten have just been seen.
@lru_cache(maxsize=100_000)
def _terms_of(word: str) -> tuple[str, ...]:
    whole = word.lower()
    parts = _parts(word)
    return (whole,) if parts in ((), (whole,)) else (whole, *parts)


def _parts(word: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in (_PART if word.isascii() else _FOREIGN_PART).findall(word) if len(part) <= LONGEST)
