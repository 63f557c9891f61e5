from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.who_question import topic_of


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("who knows about locker expiry?", "locker expiry"),
        ("Who knows the most about lockers", "lockers"),
        ("Hey, do you know who wrote the expiry code?", "the expiry code"),
        ("who maintains larder/lockers.py path:larder", "larder/lockers.py path:larder"),
        ("who owns the notifier", "the notifier"),
        ("whom do I ask about retries?", "retries"),
        ("who should I talk to about retries", "retries"),
        ("who can I ask if a locker stays shut?", "a locker stays shut"),
        ("who to ask about retries", "retries"),
        ("who is responsible for expiry?", "expiry"),
        ("who's responsible for expiry?", "expiry"),
        ("who are the maintainers of the gate", "the gate"),
        ("who is the right person for lockers", "lockers"),
        ("who works on lockers", "lockers"),
        ("who last changed the code for lockers?", "lockers"),
        ("who should review a change of the lockers", "a change of the lockers"),
        ("who can tell me about lockers?", "lockers"),
        ("Who could help us with the notifier?", "the notifier"),
        ("who has the most experience with retries", "retries"),
        ("whom should I ping about retries", "retries"),
        ("who should I add as a reviewer for the gate", "the gate"),
    ],
)
def test_questions_for_people(question: str, topic: str) -> None:
    assert topic_of(question) == topic


@pytest.mark.parametrize(
    "question",
    [
        "who puts a parcel into a free locker",
        "who calls assign_locker?",
        "who uses the notifier",
        "who can open a locker with a key",
        "who tells the notifier about retries",
        "who is told when a parcel arrives",
        "where are lockers assigned",
        "how does the code know who owns a locker",
        "who wrote it?",
        "who maintains this repository?",
        "who knows",
        "whoever knows about lockers",
        "who knows about " + "x " * 400,
        "",
    ],
)
def test_questions_for_code(question: str) -> None:
    assert topic_of(question) == ""


@given(st.text(max_size=600))
def test_any_text(question: str) -> None:
    assert isinstance(topic_of(question), str)
