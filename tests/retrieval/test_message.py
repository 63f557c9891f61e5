from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.retrieval.long_text import LONG
from rag.retrieval.message import read_message
from rag.retrieval.query import Query, understand
from rag.types import Filters

QUESTIONS = (
    "locker door timeout",
    "how the depot assigns a locker",
    "Where is a parcel's expiry checked?",
    "What does `open_door` return if the locker is empty?",
    "Depot::Station",
    "parcel_shelf",
)
AROUND = (
    "hey folks :wave: {q}? thanks!",
    "Hello all, quick question: {q}",
    "<@U0ABCDEFG> {q}",
    "I was wondering: {q}",
    "sorry if somebody asked this before, but {q}? Thank you in advance 🙏",
    "Hi everyone! I am new here and just reading the code. {q}\n\nBest regards",
    "“{q}”",
    "*{q}*",
    "&gt; {q}",
    "• {q}",
    "for a customer ticket: {q}",
    "{q} (see <https://wiki.example.org/onboarding|the onboarding page>)",
    "cc <@U0AAAAAAA> <@W0BBBBBBB> – {q}",
    "{q} pls",
    "ok so, {q}... any pointers appreciated",
    "\ufeff{q}\u200b",
)


def read(query: Query) -> tuple[object, ...]:
    """What decides a search, but for punctuation at the end."""
    return (
        query.terms,
        query.stems,
        query.extra,
        query.symbol,
        query.identifiers,
        query.filters,
        query.group,
        query.asks_for_tests,
        query.asks_for_examples,
        query.asks_for_setup,
        query.embedded.rstrip(" ?.!"),
    )


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_stands_around_a_question_changes_nothing(around: str, question: str) -> None:
    said = around.replace("{q}", question.rstrip("?") if "{q}?" in around else question)
    wrapped, plain = read(understand(said)), read(understand(question))
    # What was told of whoever asks may be searched for as well, at a third of the weight.
    assert wrapped[:2] + wrapped[3:] == plain[:2] + plain[3:]


@pytest.mark.parametrize(
    "question",
    [
        "hello world example",
        "thanks page",
        "help",
        "question",
        "please",
        "hey",
        "find command",
        "show progress bar",
        "explain query plan",
        "how do I say thanks to a courier",
        "where is the greeting printed",
        "I want lockers",
        "cheers",
        "?!",
        "🎉",
    ],
)
def test_a_message_that_says_nothing_else_is_kept(question: str) -> None:
    query = understand(question)
    assert query.text
    assert query.embedded


@pytest.mark.parametrize(
    ("message", "asked", "told"),
    [
        ("The shelf loses parcels at night. Where is it swept?", "The shelf loses parcels at night. Where is it swept?", ""),
        ("I see the shelf swept at night. Why does it happen?", "I see the shelf swept at night.", ""),
        ("I read a lot about shelves today. Where is the door opened?", "Where is the door opened?", "I read a lot about shelves today."),
        ("We had no power last night. Where are doors opened?", "Where are doors opened?", "We had no power last night."),
        ("this came up in standup today and nobody knew: door timeout", "door timeout", "this came up in standup today and nobody knew:"),
        ("if I close the door, where is that noted?", "if I close the door, where is that noted?", ""),
        ("door: close it after use", "door: close it after use", ""),
        ("lockers, doors and shelves", "lockers, doors and shelves", ""),
        ("Where do we open doors, and who closes them?", "Where do we open doors, and who closes them?", ""),
        ("how does `Depot.open` work? does anyone know?", "how does `Depot.open` work?", ""),
        ("e.g. the shelf. or the door", "e.g. the shelf. or the door", ""),
    ],
)
def test_what_is_asked_and_what_is_told(message: str, asked: str, told: str) -> None:
    read = read_message(message)
    assert (read.asked, read.told.strip()) == (asked, told)


TRACE = 'Traceback (most recent call last):\n  File "/srv/depot/door.py", line 8, in open\n    bolt.draw(3)\nValueError: stuck bolt'


def test_what_was_pasted_stands_beside_the_question_and_still_points() -> None:
    query = understand(f"{TRACE}\n\nlocker door timeout")
    assert query.terms == ("locker", "door", "timeout")
    assert {"bolt", "draw"} <= set(query.extra)
    assert [(place.path, place.start_line) for place in query.places] == [("srv/depot/door.py", 8)]


@pytest.mark.parametrize("question", ["where does this come from?", "any idea?", "why?", ""])
def test_a_question_that_points_at_what_was_pasted_means_it(question: str) -> None:
    query = understand(f"{TRACE}\n\n{question}")
    assert {"stuck", "bolt"} <= set(query.terms)


@pytest.mark.parametrize(
    "question",
    [
        "sorry if this was asked before March, but how are doors opened?",
        "written by Ana: where is the shelf swept?",
        "thanks to the tests I found it, but where is the door opened?",
        "before: I open a ticket, where is the door opened?",
        "since this morning, where are doors opened?",
        "a path: into the code for lockers?",
    ],
)
def test_no_filter_by_accident(question: str) -> None:
    query = understand(question)
    assert query.filters == Filters()
    assert not query.group


@pytest.mark.parametrize(
    "message",
    [
        "hey all, how is expiry checked in the tests? thanks!",
        "how is expiry checked in the tests :pray:",
        "could somebody tell me how expiry is checked in the tests, please?",
    ],
)
def test_filters_in_words_survive_thanks(message: str) -> None:
    assert understand(message).filters == understand("how is expiry checked in the tests?").filters != Filters()


def test_filters_in_syntax_survive_everything() -> None:
    query = understand("<@U0ABCDEFG> hi! where are doors opened? path:src/** author:“Ana Berg” lang:go thx 🙏")
    assert query.filters == Filters(path=("src/**",), language=("go",), author=("Ana Berg",))
    assert query.terms == ("doors", "opened")


@pytest.mark.parametrize(
    ("question", "terms", "identifiers"),
    [
        ("Hallo, weiß jemand, wo `open_door` gesetzt wird? Danke!", ("open_door", "open", "door", "gesetzt"), ("open_door",)),
        ("Bonjour, où est-ce que LockerDoor est fermée ? Merci", ("lockerdoor", "locker", "door", "fermée"), ("lockerdoor",)),
        ("Hola, ¿dónde está LockerDoor? Gracias", ("lockerdoor", "locker", "door"), ("lockerdoor",)),
        ("the door is es or on", ("door", "es"), ()),  # one small word of another language is none
    ],
)
def test_what_is_named_in_another_language(question: str, terms: tuple[str, ...], identifiers: tuple[str, ...]) -> None:
    query = understand(question)
    assert query.terms == terms
    assert query.identifiers == identifiers


@given(st.text(max_size=300))
def test_any_text_is_understood_and_nothing_is_lost_that_says_something(text: str) -> None:
    query = understand(text)
    assert bool(query.text) == bool(text.strip()) or not query.text.strip()


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from([" ", "\n", "hey ", "thanks, ", "door ", ": ", "- ", "... ", "`", "*", "_", "<@U0AAAAAAA>", "?", "```\n"]),
        max_size=120,
    )
)
def test_pieces_of_messages_in_any_order(pieces: list[str]) -> None:
    query = understand("".join(pieces))
    if "door " in pieces and len("".join(pieces)) <= LONG:
        assert "door" in (*query.terms, *query.extra)


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Our customers complain that exports time out. Is there a limit?", None),
        ("I think there is a bug in parse_range: it returns None", None),
        ("hello world example", None),
        ("Our tasks run for two hours and are executed twice. It seems the message is delivered again.", None),
        ("hi-res pictures of lockers", None),
        ("hello, where is the token checked?", "where is the token checked?"),
        ("My build fails with ENOSPC, which directory does the cache use?", "which directory does the cache use?"),
    ],
)
def test_what_a_question_is_about_stays_in_it(message: str, asked: str | None) -> None:
    assert read_message(message).asked == (asked or message)
