from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.markup import plain


@pytest.mark.parametrize(
    ("dressed", "expected"),
    [
        ("<@U0ABCDEFG> doors", "doors"),
        ("@U0ABCDEFG doors", "doors"),
        ("<!here> doors", "doors"),
        ("@app.route and @override", "@app.route and @override"),
        ("doors in <#C0ABCDEF|depot>", "doors in #depot"),
        ("<https://example.org/x|the shelf>", "the shelf"),
        ("<https://example.org/depot>", "https://example.org/depot"),
        ("<https://host.example/a/b/blob/main/src/door.py#L3|this line>", "https://host.example/a/b/blob/main/src/door.py#L3"),
        ("doors :wave: :+1:", "doors"),
        ("Depot::Station::open and a::b", "Depot::Station::open and a::b"),
        (":ref:`doors`", ":ref:`doors`"),
        ("doors 🎉🏽", "doors"),
        ("&gt; doors", "doors"),
        ("Vec&lt;Door&gt; a-&gt;b", "Vec<Door> a->b"),
        ("how is &amp; escaped", "how is &amp; escaped"),
        ("*all the doors*", "all the doors"),
        ("*Door*", "Door"),
        ("_all the doors_", "all the doors"),
        ("_private and __init__ and _private_", "_private and __init__ and _private_"),
        ("def f(*args, **kwargs)", "def f(*args, **kwargs)"),
        ("src/**/door_*.py", "src/**/door_*.py"),
        ("~old doors~", "old doors"),
        ("```doors```", "doors"),
        ("“doors”", "doors"),
        ("the ‘door’", "the 'door'"),
        ("doors\u00a0and\u200b shelves\u2026", "doors and shelves..."),
        ("- doors", "doors"),
        ("1. doors", "doors"),
        ("List<Door> and <div>", "List<Door> and <div>"),
        ("a < b && c > d", "a < b && c > d"),
        ("<!-- a comment -->", "<!-- a comment -->"),
    ],
)
def test_only_what_dresses_words_is_taken_off(dressed: str, expected: str) -> None:
    assert plain(dressed) == expected


@given(st.text(max_size=300))
def test_what_is_plain_stays_so(text: str) -> None:
    assert isinstance(plain(text), str)


@pytest.mark.parametrize("piece", ["<", "*", "_a ", "`", "<@U", ":a", "&gt;", "(see <https://", '"', "- ", "~~", "<https:"])
def test_time_grows_with_the_text(piece: str) -> None:
    def seconds(times: int) -> float:
        started = time.process_time()
        plain(piece * times)
        return time.process_time() - started

    assert seconds(20_000 // len(piece)) < 5
