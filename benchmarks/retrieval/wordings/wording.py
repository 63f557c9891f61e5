"""A way of saying a question again, and what kind of text a question is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["symbol", "phrase", "clause", "question"]
"""`symbol`: a bare name. `phrase`: words without a verb that asks, "door lock timeout". `clause`: "how a door is locked". `question`: a
sentence that asks or says something, a commit's title too."""

ALL: frozenset[Kind] = frozenset({"symbol", "phrase", "clause", "question"})

_SYMBOL = re.compile(r"[@:]*[A-Za-z_$][\w$]*(?:(?:::|->|[.#\\/])[A-Za-z_$][\w$]*)*[!?]?(?:\(\))?$")
_CLAUSE = re.compile(r"(?:how|where|what|which|why|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wording:
    """`say`: the question in this wording, None where it has no such form. `unread`: nothing was mended with a look at it. `kinds`: of
    the questions that it suits."""

    family: str
    name: str
    say: Callable[[str, Random], str | None]
    unread: bool = False
    kinds: frozenset[Kind] = ALL


def kind_of(text: str) -> Kind:
    """How a question is written."""
    if _SYMBOL.match(text):
        return "symbol"
    if text.rstrip().endswith("?"):
        return "question"
    return "clause" if _CLAUSE.match(text) else "phrase"


def framed(family: str, template: str, kinds: frozenset[Kind] = ALL, *, unread: bool = False, bare: bool = False) -> Wording:
    """A text with "{q}" where the question stands. `bare`: without its own question mark."""

    def say(text: str, random: Random) -> str:
        return template.replace("{q}", text.rstrip(" ?") if bare or "{q}?" in template else text)

    return Wording(family, template.replace("\n", "\\n"), say, unread, kinds)
