"""How a reranker's scores change the order of ranked rows. Pure.

Places are blended, not scores: a logit, a share of 1 and a mark from 0 to 10 have no common scale, their orders have. Only what was
scored moves, and only among itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag.retrieval.groups import places_of_both
from rag.retrieval.lists import Lists
from rag.retrieval.ranking import Ranked
from rag.types import Relevance


@dataclass(frozen=True, slots=True)
class Reordered:
    """`lists`: in the order that counts. `before`: row -> as it was ranked, of what fell below the threshold too. `relevance`: row -> what
    the reranker said of it, empty where none was heard.
    """

    lists: Lists
    before: Mapping[int, Ranked]
    relevance: Mapping[int, Relevance] = field(default_factory=dict)

    @classmethod
    def unchanged(cls, lists: Lists) -> Reordered:
        return cls(lists, _by_row(lists))


def heads(lists: Lists, most: int) -> list[int]:
    """Up to `most` rows to be scored: the best of both groups, as one list would show them."""
    return [result.row for result in places_of_both(lists.leading, lists.others, most)]


def reordered(lists: Lists, relevance: Mapping[int, Relevance], weight: float) -> Reordered:
    """Each group by weight × place by the reranker + (1 − weight) × place by the ranking; equal ones in the ranking's order.

    `weight`: 0 leaves the order, 1 is the reranker's alone. Rows below the reranker's threshold are left out; what it was not shown stays
    behind what it was, in its order. A new score is 1 ÷ (1 + blended place).
    """
    leading, others = (_blended(group, relevance, weight) for group in (lists.leading, lists.others))
    return Reordered(replace(lists, leading=leading, others=others), _by_row(lists), relevance)


def _blended(group: Sequence[Ranked], relevance: Mapping[int, Relevance], weight: float) -> list[Ranked]:
    scored = [result for result in group if result.row in relevance and relevance[result.row].relevant]
    unseen = [result for result in group if result.row not in relevance]
    ascending = sorted(-relevance[result.row].score for result in scored)
    first = {score: place for place, score in reversed(list(enumerate(ascending)))}  # equal scores share the first of their places
    blended = [(weight * first[-relevance[result.row].score] + (1 - weight) * place, place, result) for place, result in enumerate(scored)]
    blended.sort(key=lambda item: item[:2])
    seen = [replace(result, score=1 / (1 + place)) for place, _, result in blended]
    return seen + [replace(result, score=1 / (1 + place)) for place, result in enumerate(unseen, len(scored))]


def _by_row(lists: Lists) -> dict[int, Ranked]:
    return {result.row: result for result in (*lists.leading, *lists.others)}
