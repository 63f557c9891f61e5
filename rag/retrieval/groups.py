"""Code and prose are ranked apart, for what tells in one misleads in the other; here is which of the two comes first, and one list of both.

The rule is linear with round weights (docs/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag.retrieval.ranking import Ranked

GroupName = Literal["code", "prose"]

LEADS_ABOVE = 1.0
_OTHERS = 0.3  # of one list's places, for the group that does not lead


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


def one_list(first: Sequence[Ranked], second: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The leading group's results, then the other's; each gives its free places to the other."""
    others = min(len(second), round(_OTHERS * limit))
    leading = min(len(first), limit - others)
    return [*first[:leading], *second[: limit - leading]]
