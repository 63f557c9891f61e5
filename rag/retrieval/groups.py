"""Code and prose are ranked apart, for what tells in one misleads in the other; here is which of the two comes first, how many of each are
shown, and the order where one list must do.

The rule is linear with round weights (docs/retrieval.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

from rag.retrieval.ranking import Ranked
from rag.types import SearchResult

GroupName = Literal["code", "prose"]
T = TypeVar("T")

LEADS_ABOVE = 0.1
CLEARLY_ABOVE = 1.0
_OTHERS = 0.3  # of all places, for the group that does not lead
_RUN = 3
_DOCUMENTED = 1.0
_USING = re.compile(
    r"\b(?:how (?:do|can|could|should|would|must|may) (?:i|we|you|one)|how to|(?:can|could|do|should|must|may) (?:i|we|you|one)"
    r"|install\w*|deploy\w*|configur(?:e|ing)|set ?up|upgrad\w+|migrat\w+|support(?:ed|s)|contribut\w+|licen[sc]e\w*|getting started"
    r"|require[sd]?|recommended|options?|settings?|environment variables?)\b",
    re.IGNORECASE,
)  # what somebody asks who uses it
_HOW_TO = re.compile(r"\bhow (?:do|can|could|should|would|must|may) (?:i|we|you|one)\b|\bhow to\b", re.IGNORECASE)
_BUILDING = re.compile(
    r"\b(?:where|which (?:struct|component|module|type|file)s?|how (?:is|are|does|was)|implement\w*|internal\w*|defin\w+"
    r"|what does \S+ do|code|function|class|method)\b",
    re.IGNORECASE,
)  # and who works on it


@dataclass(frozen=True, slots=True)
class Grounds:
    """What speaks for a group. `similarity`: its best chunk's cosine; `coverage`: of the question's importance by one of its chunks, 0 to
    1; `stem`: the best match of a file's name, 0 to 1; `text`: the best chunk's score by words and meaning, 0 to 1; `names`: how a heading
    or a defined name of its best chunks meets the question (F1); `setup`: how well its best file says how the repository is set up, where
    that is asked for.
    """

    similarity: float = 0.0
    coverage: float = 0.0
    stem: float = 0.0
    text: float = 0.0
    names: float = 0.0
    setup: float = 0.0


def leaning(question: str) -> int:
    """1 for what is asked about using a thing, -1 for what is asked about its code, 0 for both or neither. Of one line of text."""
    return bool(_USING.search(question)) - bool(_BUILDING.search(question))


def how_to(question: str) -> bool:
    """Whether a line of text asks for instructions."""
    return bool(_HOW_TO.search(question))


def lead_of_prose(
    code: Grounds,
    prose: Grounds,
    *,
    symbol: bool,
    identifier_defined: bool,
    documentation: bool,
    leaning: int = 0,
    how_to: bool = False,
    documented: bool = False,
) -> float:
    """How much likelier documentation answers than code: it leads above LEADS_ABOVE. `documentation`: the question asks for it in words;
    `leaning`, `how_to`: see above; `documented`: a heading is called like a name in the question that no code defines. Never for a bare
    symbol.

    Where it is asked how the repository is set up, the group whose file says so: if not how to do something, whatever else speaks.
    """
    if symbol:
        return -math.inf
    z = 8 * (prose.similarity - code.similarity) + 2 * (prose.coverage - code.coverage) + prose.stem - 3 * code.stem
    z += 4 * (prose.text - code.text) + 2 * (prose.names - code.names)
    if prose.setup or code.setup:
        z += (2 if how_to else 8) * (prose.setup - code.setup)
        leaning = leaning if how_to else 0
    if documented:  # "what does this setting do" asks of no function
        identifier_defined, leaning = False, max(leaning, 0)
        z += _DOCUMENTED
    return z - identifier_defined + 2 * documentation + 2 * leaning


def places_of_both(first: Sequence[Ranked], second: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The leading group's results, then the other's; each gives its free places to the other."""
    others = min(len(second), round(_OTHERS * limit))
    leading = min(len(first), limit - others)
    return [*first[:leading], *second[: limit - leading]]


def mixed(first: Sequence[T], second: Sequence[T], *, doubtful: bool = False) -> list[T]:
    """One list of both groups: one of the second after every third of the first, so that the other group's best is seen wherever the list
    ends. `doubtful`: begin after the first of the first.
    """
    others = iter(second)
    merged: list[T] = []
    for position, one in enumerate(first, 1):
        merged.append(one)
        if position % _RUN == (1 if doubtful else 0):
            merged += islice(others, 1)
    return [*merged, *others]


def in_one_list(results: Sequence[SearchResult], *, narrowly: bool = False) -> list[SearchResult]:
    """Results that stand group by group, in the order of one list. Prose leads wrongly more often than code does: then code's best comes
    second, or first where prose leads `narrowly`. Of the orders tried this one loses least (docs/retrieval.md).
    """
    leading = [result for result in results if result.group == results[0].group]
    others = [result for result in results if result.group != results[0].group]
    if not leading or leading[0].group == "code":
        return mixed(leading, others)
    return mixed(others, leading, doubtful=True) if narrowly else mixed(leading, others, doubtful=True)
