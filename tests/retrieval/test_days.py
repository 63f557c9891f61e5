from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.days import day_of, days_in_words
from rag.retrieval.query import understand
from rag.retrieval.query_filters import filters_in, joined
from rag.types import Filters

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-09", date(2024, 3, 9)),
        ("2024-3-9", date(2024, 3, 9)),
        ("2024-03", date(2024, 3, 1)),
        ("2024", date(2024, 1, 1)),
        ("2024-13", None),
        ("2024-02-30", None),
        ("0000", None),
        ("09.03.2024", None),
        ("03/09/2024", None),
        ("yesterday", None),
        ("20240309", None),
        ("", None),
    ],
)
def test_days_as_they_are_written(text: str, day: date | None) -> None:
    assert day_of(text) == day


@pytest.mark.parametrize(
    ("question", "rest", "since"),
    [
        ("which locker code was changed since March 2024?", "which locker code ?", date(2024, 3, 1)),
        ("lockers that were last modified since 2024-03", "lockers", date(2024, 3, 1)),
        ("locker code updated since Sep. 2023", "locker code", date(2023, 9, 1)),
        ("lockers changed in the last month", "lockers", date(2026, 10, 31)),
        ("lockers touched within the past two weeks.", "lockers .", date(2026, 11, 16)),
        ("lockers edited in the last 10 days", "lockers", date(2026, 11, 20)),
    ],
)
def test_days_in_words(question: str, rest: str, since: date) -> None:
    text, filters, _ = filters_in(question, TODAY)
    assert (text, filters) == (rest, Filters(since=since, worded=True))


@pytest.mark.parametrize(
    "question",
    [
        "what has changed since version 2024",
        "what changed since 2024",  # a year, or a number
        "since March 2024 the door stays open: why",
        "how are files that changed in the last 3 days chosen",
        "lockers since the last month",
        "changed since march 2024",  # nothing is left to ask
        "doors changed since march",
        "doors changed in the last release",
        "doors changed since March 0000",
        "doors changed since 2024-13",
    ],
)
def test_what_could_mean_anything_else_is_no_date(question: str) -> None:
    assert filters_in(question, TODAY) == (question, Filters(), "")


@given(st.text(max_size=80))
def test_any_text_has_days_or_none(text: str) -> None:
    rest, days = days_in_words(text, TODAY)
    assert days or rest == text
    day_of(text)


def test_filters_by_author_and_date_in_a_question() -> None:
    text, filters, _ = filters_in('where are doors author:ana author:"Ben Ode" since:2024-03 before:2024-06-01 path:src', TODAY)
    assert text == "where are doors"
    assert filters == Filters(path=("src",), author=("ana", "Ben Ode"), since=date(2024, 3, 1), before=date(2024, 6, 1))


def test_a_written_date_that_is_none_stays_in_the_question() -> None:
    assert filters_in("doors since:soon before:2024-13", TODAY) == ("doors since:soon before:2024-13", Filters(), "")


def test_written_dates_win_over_words() -> None:
    text, filters, _ = filters_in("doors since:2020 changed in the last month", TODAY)
    assert (text, filters) == ("doors changed in the last month", Filters(since=date(2020, 1, 1)))


def test_what_is_given_beside_the_question_wins() -> None:
    written = understand("doors author:ana since:2024 before:2025").filters
    assert joined(Filters(author=("ben",)), written) == Filters(author=("ben",), since=date(2024, 1, 1), before=date(2025, 1, 1))
    assert joined(Filters(before=date(2020, 1, 1)), written) == Filters(author=("ana",), before=date(2020, 1, 1))
    worded = Filters(since=date(2024, 1, 1), worded=True)
    assert joined(Filters(), worded) == worded
    assert not joined(Filters(since=date(2023, 1, 1)), worded).worded
