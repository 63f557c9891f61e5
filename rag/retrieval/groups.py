"""Code and prose are ranked apart, for what tells in one misleads in the other; here is which of the two comes first, how many of each are
shown, and the order where one list must do.

The rule is linear with round weights (docs/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeVar

from rag.retrieval.ranking import Ranked
from rag.types import SearchResult

GroupName = Literal["code", "prose"]
T = TypeVar("T")

LEADS_ABOVE = 1.0
_OTHERS = 0.3  # of all places, for the group that does not lead
_RUN = 3


@dataclass(frozen=True, slots=True)
class Grounds:
    """What speaks for a group. `similarity`: its best chunk's cosine; `coverage`: of the question's importance by one of its chunks, 0 to
    1; `stem`: the best match of a file's name, 0 to 1.
    """

    similarity: float = 0.0
    coverage: float = 0.0
    stem: float = 0.0


def prose_leads(code: Grounds, prose: Grounds, *, symbol: bool, identifier_defined: bool, documentation: bool) -> bool:
    """Whether documentation answers likelier than code. `documentation`: the question asks for it in words. Never for a bare symbol."""
    if symbol:
        return False
    z = 8 * (prose.similarity - code.similarity) + 3 * (prose.coverage - code.coverage) - 2 * code.stem + prose.stem + 0.5
    return z - identifier_defined + documentation > LEADS_ABOVE


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


def in_one_list(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Results that stand group by group, in the order of one list. Prose leads wrongly more often than code does: then code's best comes
    second. Of the orders tried this one loses least (docs/retrieval.md).
    """
    leading = [result for result in results if result.group == results[0].group]
    others = [result for result in results if result.group != results[0].group]
    return mixed(leading, others, doubtful=bool(leading) and leading[0].group == "prose")
