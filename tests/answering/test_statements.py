from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.statements import Statement, StatementSplitter


def split(text: str, sizes: list[int] | None = None) -> list[Statement]:
    splitter = StatementSplitter()
    found: list[Statement] = []
    position = 0
    for size in sizes or []:
        found += splitter.feed(text[position : position + size])
        position += size
    found += splitter.feed(text[position:])
    return found + splitter.close()


def texts(text: str) -> list[str]:
    return [statement.text for statement in split(text)]


MARKUP = st.lists(
    st.sampled_from(
        [
            "A",
            "b",
            "route",
            " ",
            "  ",
            "\n",
            ".",
            ". ",
            "! ",
            "? ",
            "[1]",
            "[",
            "1",
            "]",
            ", 3]",
            "`",
            "``",
            "```",
            "~~~",
            "\n```\n",
            "```py\n",
            "> ",
            "- ",
            "1. ",
            "【2】",
            "e.g. ",
            "(",
            ")",
            "*",
            "é",
        ]
    ),
    max_size=60,
).map("".join)


@given(MARKUP)
def test_statements_joined_give_the_text_back(text: str) -> None:
    assert "".join(texts(text)) == text


@given(MARKUP, st.lists(st.integers(1, 7), max_size=60))
def test_how_the_stream_is_cut_changes_nothing(text: str, sizes: list[int]) -> None:
    assert split(text, sizes) == split(text)


def test_sentences_and_the_citations_after_them_stay_together() -> None:
    assert texts("It routes. [1] Then it calls [2, 3]. Last one [1]") == ["It routes. [1] ", "Then it calls [2, 3]. ", "Last one [1]"]
    assert texts("It routes.[1][2] Then more.") == ["It routes.[1][2] ", "Then more."]


@pytest.mark.parametrize(
    "line",
    [
        "See e.g. Flask for that.",
        "1. The first step.",
        "- 2. Nested number.",
        "It calls `a. B` once.",
        "Version 3.11 is needed.",
        "by J. Smith wrote it",
        "It ends. and goes on in lower case",
    ],
)
def test_what_only_looks_like_the_end_of_a_sentence(line: str) -> None:
    assert texts(line) == [line]


def test_a_statement_leaves_as_soon_as_it_is_whole() -> None:
    splitter = StatementSplitter()
    assert splitter.feed("It routes [1") == []
    assert splitter.feed("]. ") == []
    assert [s.text for s in splitter.feed("T")] == ["It routes [1]. "]
    assert [s.text for s in splitter.feed("hen it ends.\nNe")] == ["Then it ends.\n"]


def test_a_fence_is_one_statement_whatever_stands_in_it() -> None:
    code = "```python\nx[1] = 2\n\n# Is. A sentence. [1]\n```\n"
    found = split(f"Before.\n{code}After [1].\n")
    assert found == [Statement("Before.\n"), Statement(code, fenced=True), Statement("After [1].\n")]


def test_a_fence_that_is_never_closed_is_kept_to_the_end() -> None:
    assert split("~~~\ncode\n```\nmore") == [Statement("~~~\ncode\n```\nmore", fenced=True)]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    block = "````\n```\ninner\n```\n````\n"
    assert split(block + "Out.") == [Statement(block, fenced=True), Statement("Out.")]


def test_code_in_one_line_of_three_backticks_is_no_fence() -> None:
    assert split("```x = 1``` is set. [1]\nNext.") == [Statement("```x = 1``` is set. [1]\n"), Statement("Next.")]
