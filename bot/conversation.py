"""Thread -> a question that stands alone.

No model rewrites it: a follow-up that points backwards ("and where is that tested?") is given the subject of the question before
it, in brackets, where people who read the log can see what was added. A question that stands by itself is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.types import Turn

_SHORT = 4  # words: "and the tests?", "why not async?"
_SUBJECT = 8  # words taken over, so that a long thread does not pile up
_WORD = re.compile(r"[A-Za-z_][\w./-]*\w|\w")
_POINTS_BACK = frozenset(
    "it its that this these those they them their there he she one ones same former latter above previous another else".split()  # noqa: SIM905
)
_OPENERS = ("and ", "but ", "or ", "so ", "what about", "how about", "why", "then ", "also ")
_EMPTY = frozenset(
    """a an the and but or so of in on at to for from by with as is are was were be been do does did can could should would will how what
    where when which who whose why i you we me my our your please tell show explain give find use used about any some there it its that
    this these those they them their same else another one ones not no if then also into than between more here have has had get
    """.split()  # noqa: SIM905
)


def standalone(question: str, turns: Sequence[Turn]) -> str:
    """The question as it is, or with " (about …)" where it leans on the last of `turns` (oldest first)."""
    if not turns or not leans_back(question):
        return question
    known = {word.lower() for word in _WORD.findall(question)}
    subject = [word for word in _content(turns[-1].question) if word.lower() not in known]
    if not subject:
        return question
    return f"{question} (about {' '.join(subject[:_SUBJECT])})"


def leans_back(question: str) -> bool:
    """Whether it cannot be understood without what came before: very short, opens with "and", or says "it" of something unnamed."""
    words = [word.lower() for word in _WORD.findall(question)]
    if len(words) <= _SHORT or question.lower().startswith(_OPENERS):
        return True
    return any(word in _POINTS_BACK for word in words)


def _content(text: str) -> list[str]:
    """Words that carry meaning, in their order, each once. What was taken over before comes last and so goes first when room is short."""
    seen: dict[str, str] = {}
    for word in _WORD.findall(text):
        if word.lower() not in _EMPTY:
            seen.setdefault(word.lower(), word)
    return list(seen.values())
