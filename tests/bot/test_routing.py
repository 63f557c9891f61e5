from __future__ import annotations

import pytest

from bot.routing import Choice, NoChoice, choose, find, nearest
from tests.bot.scripted import repository

FLASK, GIN, AXIOS = repository("flask"), repository("gin"), repository("axios")
ALL = [FLASK, GIN, AXIOS]


@pytest.mark.parametrize(
    ("text", "name", "question"),
    [
        ("in flask: how are routes registered?", "flask", "how are routes registered?"),
        ("In `gin`, where is recovery?", "gin", "where is recovery?"),
        ("repo:axios how do interceptors run", "axios", "how do interceptors run"),
        ("how do interceptors run? repo:Axios", "axios", "how do interceptors run?"),
        ("how does repo:gin recover from panics", "gin", "how does recover from panics"),
        ("gin: where is recovery?", "gin", "where is recovery?"),
        ("about flask: why?", "flask", "why?"),
    ],
)
def test_a_name_in_the_text_wins(text: str, name: str, question: str) -> None:
    choice = choose(text, ALL, pin="axios", binding="axios")
    assert isinstance(choice, Choice)
    assert (choice.repository.name, choice.question, choice.how) == (name, question, "named")


def test_the_order_is_thread_channel_only_mentioned() -> None:
    def how(text: str, pin: str = "", binding: str = "", allowed: list[object] | None = None) -> tuple[str, str]:
        choice = choose(text, allowed or ALL, pin, binding)  # type: ignore[arg-type]
        assert isinstance(choice, Choice)
        return choice.repository.name, choice.how

    assert how("why?", "gin", "axios") == ("gin", "thread")
    assert how("why?", "", "Axios") == ("axios", "channel")
    assert how("why?", "gone", "also gone", [FLASK]) == ("flask", "only")
    assert how("how does flask register routes?") == ("flask", "mentioned")
    assert how("in practice: how does flask register routes?") == ("flask", "mentioned")


@pytest.mark.parametrize("text", ["how are routes registered?", "do flask and gin differ?", "flasks?"])
def test_nothing_is_guessed(text: str) -> None:
    assert choose(text, ALL) == NoChoice(("axios", "flask", "gin"))


def test_an_unknown_name_is_told_with_the_nearest_allowed_one() -> None:
    assert choose("repo:flaks why?", ALL, binding="gin") == NoChoice(("axios", "flask", "gin"), "flaks", "flask")


def test_a_pin_or_binding_that_is_not_allowed_is_no_way_in() -> None:
    assert choose("why?", [FLASK, GIN], pin="axios", binding="axios") == NoChoice(("flask", "gin"))
    assert choose("repo:axios why?", [FLASK, GIN]) == NoChoice(("flask", "gin"), "axios", "")


def test_the_last_part_of_a_name_is_enough_where_it_is_one_repositorys_alone() -> None:
    two = [repository("pallets/flask"), repository("gin")]
    assert find("flask", two) == two[0]
    assert find("gin-gonic/gin", two) == two[1]
    assert find("flask", [*two, repository("other/flask")]) is None
    assert nearest("zzz", ["flask"]) == ""
