from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.groups import LEADS_ABOVE, Grounds, how_to, in_one_list, lead_of_prose, leaning, mixed, places_of_both
from rag.retrieval.ranking import Ranked
from rag.types import Chunk, Kind, SearchResult

CODE = Grounds(similarity=0.4, coverage=0.5, stem=0.2)


def prose_leads(code: Grounds, prose: Grounds, *, symbol: bool, identifier_defined: bool, documentation: bool, **asked: Any) -> bool:
    lead = lead_of_prose(code, prose, symbol=symbol, identifier_defined=identifier_defined, documentation=documentation, **asked)
    return lead > LEADS_ABOVE


def test_prose_leads_where_it_is_clearly_closer() -> None:
    closer = replace(CODE, similarity=0.55)
    assert prose_leads(CODE, closer, symbol=False, identifier_defined=False, documentation=False)
    assert not prose_leads(CODE, CODE, symbol=False, identifier_defined=False, documentation=False)
    assert not prose_leads(CODE, closer, symbol=True, identifier_defined=False, documentation=True)
    assert not prose_leads(CODE, closer, symbol=False, identifier_defined=True, documentation=False)
    assert prose_leads(CODE, CODE, symbol=False, identifier_defined=False, documentation=True)


def test_what_only_a_heading_is_called_after_is_looked_for_in_prose() -> None:
    asked: dict[str, Any] = {"symbol": False, "identifier_defined": True, "documentation": False, "leaning": -1}
    assert not prose_leads(CODE, CODE, **asked)
    assert prose_leads(CODE, CODE, **asked, documented=True)
    assert not prose_leads(replace(CODE, similarity=0.7), CODE, **asked, documented=True)
    assert not prose_leads(CODE, CODE, **{**asked, "symbol": True}, documented=True)


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


@given(st.floats(0.3, 1), st.booleans())
def test_the_group_whose_file_says_how_the_repository_is_set_up_leads(share: float, both: bool) -> None:
    asked = {"symbol": False, "identifier_defined": False, "documentation": False}
    says, silent = Grounds(text=1.0, setup=share), Grounds(text=1.0, setup=share / 2 if both else 0.0)
    assert prose_leads(silent, says, leaning=-1, **asked)
    assert not prose_leads(says, silent, leaning=1, **asked)


def test_instructions_are_looked_for_in_documentation_first() -> None:
    asked: dict[str, Any] = {"symbol": False, "identifier_defined": False, "documentation": False, "leaning": 1}
    makefile, readme = Grounds(text=1.0, setup=0.9), Grounds(text=1.0, similarity=0.1)
    assert prose_leads(makefile, readme, how_to=True, **asked)
    assert not prose_leads(makefile, readme, how_to=False, **asked)
    assert how_to("How do I run the tests?")
    assert how_to("how to build it")
    assert not how_to("how are the tests run")


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


def result(rank: int, path: str, language: str) -> SearchResult:
    return SearchResult(rank, Chunk(path, 1, 1, Kind.SECTION, language, "x"), 1.0, {}, "")


def test_where_prose_leads_code_is_second_and_first_where_it_leads_narrowly() -> None:
    prose = [result(rank, f"{rank}.md", "markdown") for rank in range(1, 6)]
    code = [result(rank, f"{rank}.py", "python") for rank in range(6, 9)]
    clear, narrow = in_one_list([*prose, *code]), in_one_list([*prose, *code], narrowly=True)
    assert clear[:3] == [prose[0], code[0], prose[1]]
    assert narrow[:3] == [code[0], prose[0], code[1]]
    assert sorted(one.rank for one in clear) == sorted(one.rank for one in narrow) == list(range(1, 9))
    assert in_one_list([*code, *prose])[:4] == in_one_list([*code, *prose], narrowly=True)[:4] == [*code, prose[0]]
    assert in_one_list([]) == in_one_list([], narrowly=True) == []
    assert in_one_list(prose, narrowly=True) == prose
