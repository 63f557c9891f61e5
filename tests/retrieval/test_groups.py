from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.groups import Grounds, leaning, mixed, places_of_both, prose_leads
from rag.retrieval.ranking import Ranked

CODE = Grounds(similarity=0.4, coverage=0.5, stem=0.2)


def test_prose_leads_where_it_is_clearly_closer() -> None:
    closer = replace(CODE, similarity=0.6)
    assert prose_leads(CODE, closer, symbol=False, identifier_defined=False, documentation=False)
    assert not prose_leads(CODE, CODE, symbol=False, identifier_defined=False, documentation=False)
    assert not prose_leads(CODE, closer, symbol=True, identifier_defined=False, documentation=True)
    assert not prose_leads(CODE, closer, symbol=False, identifier_defined=True, documentation=False)
    assert prose_leads(CODE, CODE, symbol=False, identifier_defined=False, documentation=True)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How do I install the lockers behind a proxy?", 1),
        ("which browsers are supported", 1),
        ("where is the locker's door opened", -1),
        ("How does a courier pay?", -1),
        ("which function opens doors", -1),
        ("where do I configure the lockers", 0),
        ("parcel limits", 0),
        ("", 0),
    ],
)
def test_who_asks_uses_a_thing_or_works_on_it(question: str, wanted: int) -> None:
    assert leaning(question) == wanted


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES, SHARES)
def test_whatever_speaks_for_a_group_speaks_against_the_other(
    similarity: float, coverage: float, stem: float, text: float, names: float
) -> None:
    one, none = Grounds(similarity, coverage, stem, text, names), Grounds()
    asked = {"symbol": False, "identifier_defined": False, "documentation": False}
    assert not prose_leads(one, none, **asked)
    assert prose_leads(none, Grounds(text=1.0), leaning=-1, **asked)
    assert not prose_leads(one, one, leaning=-1, **asked)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 12))
def test_places_of_both_is_full_and_keeps_both_orders(first: int, second: int, limit: int) -> None:
    leading = [Ranked(row, 1.0) for row in range(first)]
    others = [Ranked(100 + row, 1.0) for row in range(second)]
    rows = [result.row for result in places_of_both(leading, others, limit)]
    assert len(rows) == min(limit, first + second)
    assert rows == sorted(rows)
    if second and limit >= 2:
        assert rows[-1] >= 100 or (first >= limit and len([row for row in rows if row >= 100]) == 0 and round(0.3 * limit) == 0)


@given(st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_one_list_of_both_loses_nothing_and_shows_the_other_group_early(first: int, second: int, doubtful: bool) -> None:
    merged = mixed([f"first {n}" for n in range(first)], [f"second {n}" for n in range(second)], doubtful=doubtful)
    assert [one for one in merged if one.startswith("first")] == [f"first {n}" for n in range(first)]
    assert [one for one in merged if one.startswith("second")] == [f"second {n}" for n in range(second)]
    if second and first >= 3:
        assert merged[1 if doubtful else 3] == "second 0"
