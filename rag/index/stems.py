"""A term to the form that it shares with its relatives: "routing", "routes" and "router" all become "rout".

Rougher than a stemmer for prose, on purpose: in source text the doer, the deed and its result are one thing, and a form need not be a word.
"""

from __future__ import annotations

from functools import lru_cache

_SHORTEST = 3  # characters that are left
_VOWELS = frozenset("aeiouy")

# The longest that fits is taken off; later ones may become possible then, so there are two passes.
_FIRST = ("yings", "ings", "ying", "ing", "edly", "ely", "ally", "ied", "ies", "ed", "es", "s", "ie", "y", "e")
_SECOND = (
    *("izations", "ization", "isations", "isation", "ations", "ation", "ators", "ator", "ative", "ating", "ions", "ion", "ments", "ment"),
    *(
        "izers",
        "izer",
        "isers",
        "iser",
        "ers",
        "er",
        "ors",
        "or",
        "izes",
        "ize",
        "ise",
        "ate",
        "at",
        "iz",
        "is",
        "able",
        "ible",
        "ity",
        "ive",
    ),
)


@lru_cache(maxsize=20_000)  # those of a question come again and again while it is answered
def stem(term: str) -> str:
    """The term without its endings; as it is if it is short, or not in the letters a to z."""
    if len(term) <= _SHORTEST or not (term.isascii() and term.isalpha()):
        return term
    return _undoubled(_without(_without(term, _FIRST), _SECOND))


def _without(term: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if term.endswith(ending):
            left = term[: -len(ending)]
            if len(left) >= _SHORTEST and not _VOWELS.isdisjoint(left):
                return left
    return term


def _undoubled(term: str) -> str:
    return term[:-1] if len(term) > _SHORTEST and term[-1] == term[-2] and term[-1] not in _VOWELS else term
