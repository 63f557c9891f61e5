from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.tokens import LONGEST, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("__init__", ["__init__", "init"]),
        ("MAX_SIZE", ["max_size", "max", "size"]),
        ("What is the URL?", ["what", "is", "the", "url"]),
        ("os.path.join(a)", ["os", "path", "join", "a"]),
        ("Größe_2 naïve", ["größe_2", "größe", "2", "naïve"]),
        ("数据库", ["数据库"]),
        ("", []),
        ("?!… ", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_encoded_data_gives_no_endless_term() -> None:
    assert terms("x" * 100_000) == []
    assert terms("ab_" * 1000) == ["ab"] * 1000


@given(st.text(max_size=300))
def test_terms_are_lower_case_words_no_longer_than_the_limit(text: str) -> None:
    for term in terms(text):
        assert term == term.lower()
        assert len(term) > 0
        assert term.strip() == term
    assert all(len(term) <= 3 * LONGEST for term in terms(text))


@given(st.from_regex(r"[a-z]{1,8}(_[a-z]{1,8}){0,3}", fullmatch=True))
def test_an_identifier_is_found_whole_and_by_each_part(name: str) -> None:
    assert {name, *name.split("_")} == set(terms(name))
