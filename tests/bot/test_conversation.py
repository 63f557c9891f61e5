from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import leans_back, standalone
from rag.types import Turn

FIRST = Turn("How does the blueprint register its routes?", "By deferred functions.[1]")


@pytest.mark.parametrize(
    ("followup", "expected"),
    [
        ("and where is that tested?", "and where is that tested? (about blueprint register routes)"),
        ("why?", "why? (about blueprint register routes)"),
        (
            "Does it also register error handlers when the app starts?",
            "Does it also register error handlers when the app starts? (about blueprint routes)",
        ),
    ],
)
def test_a_question_that_leans_back_is_given_the_subject_before_it(followup: str, expected: str) -> None:
    assert standalone(followup, [Turn("Old?", "Old."), FIRST]) == expected


def test_a_question_that_stands_by_itself_is_left_alone() -> None:
    question = "Which function parses the configuration file at start?"
    assert standalone(question, [FIRST]) == question
    assert standalone("why?", []) == "why?"
    assert not leans_back(question)


@given(st.lists(st.sampled_from(["why that?", "and the tests?", "where is it used?", "how so?"]), min_size=1, max_size=30))
def test_a_long_thread_does_not_pile_up(followups: list[str]) -> None:
    turns = [FIRST]
    for followup in followups:
        question = standalone(followup, turns)
        assert question.startswith(followup)
        assert len(question) < len(followup) + 200
        turns.append(Turn(question, "…"))
