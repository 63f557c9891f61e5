from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.retrieval.query import bare_name, searched_terms, understand, understood, wording_of
from rag.retrieval.query_filters import TEST_GLOBS, joined, language_named
from rag.retrieval.stop_words import STOP_WORDS
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
    assert [place.path for place in query.places] == ["README.md"]
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
        ("how do I test a door of my own", False),
        ("how to unit test a parcel", False),
        ("how do we test doors in the tests", True),
    ],
)
def test_asking_for_tests_is_not_asking_for_what_was_made_for_them(question: str, wanted: bool) -> None:
    assert understand(question).asks_for_tests == wanted


@pytest.mark.parametrize(
    "question",
    [
        "how is expiry checked in the specs",
        "what about doors in our specs?",
        "lockers in all specs",
        "Which specs cover the lockers?",
        "why do the specs fail on Mondays",
        "are there any specs for the courier",
        "are there specs for couriers",
        "how do I run the specs",
        "where are the spec files of the depot",
        "what does the spec helper set up",
        "who loads spec_helper",
        "the spec suite of the depot",
        "which RSpec matchers are our own",
        "the integration specs of the courier",
        "a unit spec of doors",
        "what does door_spec.rb check",
        "does door.spec.ts cover hinges",
        "DoorSpec.kt and hinges",
        "what is in spec/models/door.rb",
        "everything under spec/models",
        "the `spec/` directory",
    ],
)
def test_specs_that_are_tests(question: str) -> None:
    assert understand(question).asks_for_tests


@pytest.mark.parametrize(
    "question",
    [
        "which status is right according to the spec",
        "does it follow the specs",
        "how is the OpenAPI spec generated",
        "where are the OpenAPI specs merged",
        "in the OpenAPI specs",
        "is that required by the spec?",
        "what do the specs say about expiry",
        "the specs of the locker hardware",
        "conforms to the spec of parcels",
        "where is the spec version checked",
        "spec compliant headers",
        "a module spec without a loader",
        "what is PodSpec.containers",
        "what does ModuleSpec hold",
        "which field of openapi_spec is sent",
        "who reads openapi-spec.yaml",
        "the spec/implementation mismatch of parcels",
        "specifically the lockers",
        "special parcels, inspected",
        "retrospect of respect",
    ],
)
def test_a_specification_is_no_test(question: str) -> None:
    query = understand(question)
    assert not query.asks_for_tests
    assert query.filters == Filters()


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("how is expiry checked in the specs?", True),
        ("how is expiry checked in our unit specs", True),
        ("which header is demanded by the specs?", False),
        ("is that a part of the specs?", False),
        ("is expiry covered by the tests?", True),
        ("in the specs of the hardware", False),
    ],
)
def test_only_what_is_asked_of_the_tests_is_searched_for_in_them(question: str, wanted: bool) -> None:
    assert understand(question).filters == (Filters(path=TEST_GLOBS) if wanted else Filters())


@pytest.mark.parametrize(
    ("question", "changes", "english"),
    [
        ("what changed in 2.3", True, True),
        ("when was the express door added", True, True),
        ("which versions are supported", True, True),
        ("breaking parcels", True, False),
        ("how is a locker opened", False, True),
        ("Wie öffne ich eine Tür?", False, False),
        ("exchange doors", False, False),
        ("dove vengono aperti gli armadietti", False, False),
    ],
)
def test_asking_for_changes_and_in_english(question: str, changes: bool, english: bool) -> None:
    query = understand(question)
    assert (query.asks_for_changes, query.in_english) == (changes, english)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("where is the parcel limit documented?", "documentation"),
        ("does the README say how to install it", "documentation"),
        ("is there a guide to lockers", "documentation"),
        ("docs for the notifier", "documentation"),
        ("why does the documentation generator skip parcels", "why"),
        ("how are documented members collected", "how"),
        ("how does a tutorial step open a locker", "how"),
        ("who wrote the notifier", "who"),
        ("please, where are parcels kept", "where"),
        ("parcel limits", ""),
    ],
)
def test_what_kind_of_answer_is_wanted(question: str, kind: str) -> None:
    assert understand(question).asks_for == kind


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        # Of a message its words count, not what was only true of one run.
        ('"parcel 4711 not found in /var/lib/depot/a1.db"', ("parcel", "found")),
        ("LockerError: door 17 of 23 jammed at 0x7ffe12ab", ("lockererror", "locker", "error", "door", "jammed")),
        ("segfault in 0xdeadbeef01 of 3fa85f64-5717-4562-b3fc-2c963f66afa6", ("segfault",)),
        # Elsewhere a number or a path may be what is searched for.
        ("status 404", ("status", "404")),
        ("error in src/door.py", ("error", "src", "door", "py")),
        ("0xdeadbeef", ("0xdeadbeef", "0", "xdeadbeef")),
    ],
)
def test_what_is_of_one_run_alone_is_not_searched_for(question: str, terms: tuple[str, ...]) -> None:
    assert searched_terms(question) == terms


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


HOSTILE = [
    "[",
    "`",
    "/",
    ".",
    "a.",
    "a/",
    "$",
    "-",
    "_",
    "a",
    "(",
    "::",
    "\\",
    '"',
    "'",
    "#",
    "*",
    "<!--",
    "=",
    "0x",
    "é",
    " ",
    "\t",
    "\n",
    "\r",
]
HOSTILE += [
    'File "',
    "at ",
    "https://a/",
    "x.py:1 ",
    "\n.",
    "#1 a(",
    " at a.b(",
    'path:"',
    "path:a",
    "in the tests ",
    "aError: ",
    "\n```\n",
]
HOSTILE += ["\n * ", "\n    ", "AbC", "a_", "docs ", "https://a/b/c/blob/d/e#L1-", "#1 a() at x.c)" + "\n" * 3, "\0", "\ud800"]


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_any_text_is_understood_in_time_in_proportion_to_its_length(pieces: list[str], times: int) -> None:
    repeated = "".join(piece * times for piece in pieces)
    short, long = ((repeated * (size // len(repeated) + 1))[:size] for size in (10_000, 100_000))

    def seconds(text: str) -> float:
        began = time.process_time()
        query = understand(text)
        assert len(query.terms) == len(query.stems)
        return time.process_time() - began

    # Ten times the text in a hundred times the time would be a pattern that starts over at every character; the floor is what a busy
    # machine adds.
    assert seconds(long) < 40 * max(seconds(short), 0.05)


@pytest.mark.parametrize(
    ("question", "qualified"),
    [
        ("what does Door.open do", ("door.open",)),
        ("Door.open", ("door.open",)),
        ("where is `Depot::Door#open()` called?", ("door.open",)),
        ("door->open() and locker.shut()", ("door.open", "locker.shut")),
        ("how is open_door used", ()),
        ("what is in depot/door.py", ()),
        ("open the door", ()),
    ],
)
def test_names_with_what_they_belong_to(question: str, qualified: tuple[str, ...]) -> None:
    assert understand(question).qualified == qualified


@pytest.mark.parametrize(
    ("question", "embedded"),
    [
        ("where are doors locked", "where are doors locked"),
        ("  lang:go where are doors  author:ana ", "where are doors"),
        ("lang:go", "lang:go"),
        ("how are doors checked in the tests", "how are doors checked in the tests"),
        ("Doors squeak lang:go\n\n" + "They squeak. " * 60, None),
    ],
)
def test_what_is_embedded_is_known_before_the_question_is_read(question: str, embedded: str | None) -> None:
    wording = wording_of(question)
    query = understood(wording)
    assert query == understand(question)
    assert wording.embedded == query.embedded
    assert wording.filters == query.filters
    assert embedded in (None, wording.embedded)
    assert (wording.long is None) == (embedded is not None)


@pytest.mark.parametrize("word", ["licence", "License?"])
def test_a_word_that_asks_for_the_licence_by_itself_is_no_symbol(word: str) -> None:
    query = understand(word)
    assert (query.symbol, query.asks_for_setup) == ("", ("licence",))
