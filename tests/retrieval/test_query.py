from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.query import STOP_WORDS, bare_name, places_in, understand
from rag.retrieval.query_filters import TEST_GLOBS, joined, language_named
from rag.types import Filters


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("Locker", "locker"),
        ("Depot::Station", "station"),
        ("depot.station.open_door()", "open_door"),
        ("Depot#close!", "close"),
        ("_private", "_private"),
        ("locker door", ""),
        ("what opens a door?", ""),
        ("42", ""),
    ],
)
def test_a_question_that_is_a_symbol(question: str, symbol: str) -> None:
    query = understand(question)
    assert query.symbol == symbol
    assert query.identifiers == ((symbol,) if symbol else ())
    assert (query.asks_for == "symbol") == bool(symbol)


def test_identifiers_inside_a_sentence() -> None:
    query = understand("Why does `open()` of Depot.Station ignore lockerDoor, open_door and HTTPServer, but not Ada or e.g. README.md?")
    assert query.identifiers == ("open", "station", "lockerdoor", "open_door", "httpserver")
    assert query.places == ("README.md",)
    assert query.asks_for == "documentation"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("which tests cover the lockers", True),
        ("how is expiry tested", True),
        ("a test of doors", True),
        ("how does the test client send a parcel", False),
        ("testing utilities for parcels", False),
        ("latest parcel", False),
    ],
)
def test_asking_for_tests_is_not_asking_for_what_was_made_for_them(question: str, wanted: bool) -> None:
    assert understand(question).asks_for_tests == wanted


def test_places_in_the_text_of_a_trace() -> None:
    text = 'File "src/depot/station.py", line 12\n  at lib\\web\\notify.js:3:7 (see setup.cfg), version 1.2.3, depot.station'
    assert places_in(text) == ("src/depot/station.py", "lib/web/notify.js", "setup.cfg")


def test_stop_words_are_words_of_the_sentence_and_not_parts_of_a_name() -> None:
    query = understand("how is a parcel moved from the ParcelFromLocker")
    assert query.terms == ("parcel", "moved", "parcelfromlocker", "parcel", "from", "locker")
    assert query.stems == ("parcel", "mov", "parcelfromlock", "parcel", "from", "lock")
    assert understand("what is it").terms == ("what", "is", "it")


@pytest.mark.parametrize(
    ("question", "text", "filters", "group"),
    [
        ("where is it path:src/auth", "where is it", Filters(path=("src/auth",)), ""),
        ('lang:Golang retry path:"my docs/*.md" pause', "retry pause", Filters(path=("my docs/*.md",), language=("go",)), ""),
        ("kind:Function language:c++ doors", "doors", Filters(language=("cpp",), kind=("function",)), ""),
        ("kind:prose installing", "installing", Filters(), "prose"),
        ("how are doors checked in the unit tests?", "how are doors checked in the unit tests?", Filters(path=TEST_GLOBS), ""),
        ("a path: and lang: alone", "a path: and lang: alone", Filters(), ""),
        ("mypath:x", "mypath:x", Filters(), ""),
        ("lang:go", "lang:go", Filters(), ""),
    ],
)
def test_filters_in_the_question(question: str, text: str, filters: Filters, group: str) -> None:
    query = understand(question)
    assert (query.text, query.filters, query.group) == (text, filters, group)


def test_what_was_given_beside_the_question_holds() -> None:
    assert joined(Filters(language=("go",)), Filters(path=("a",), language=("rust",))) == Filters(path=("a",), language=("go",))
    assert language_named(".py") == "python"
    assert language_named("whatever") == "whatever"


@given(st.text(max_size=200))
def test_any_text_is_understood(question: str) -> None:
    query = understand(question)
    assert len(query.terms) == len(query.stems)
    assert not {term for term in query.terms if term in STOP_WORDS} or not question.strip() or query.terms
    assert all(name == bare_name(name) for name in query.identifiers)
