from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fences import closing, open_fence, split_markdown

lines = st.lists(
    st.sampled_from(["text of a line", "```python", "```", "~~~", "`code`", "", "x" * 90, "&amp; &lt;", "    ```"]), max_size=60
)


@given(lines.map("\n".join), st.integers(200, 400))
def test_no_part_leaves_a_fence_open_and_nothing_is_lost(text: str, limit: int) -> None:
    parts = split_markdown(text, limit)
    assert all(len(part) <= limit for part in parts)
    assert all(not open_fence(part) for part in parts[:-1])
    assert open_fence(parts[-1]) == open_fence(text)
    words = re.compile(r"[a-wyz&;]+|x")  # everything but the fences that cutting adds
    assert sum(part.count("x") for part in parts) == text.count("x")
    assert [w for part in parts for w in words.findall(part) if w == "line"] == [w for w in words.findall(text) if w == "line"]


@given(st.text(alphabet="ab &;", max_size=900).map(lambda text: text.replace("&", "&amp;")))
def test_without_fences_the_parts_are_the_text(text: str) -> None:
    parts = split_markdown(text, 200)
    assert "".join(parts) == text
    assert all(re.fullmatch(r"(?:[^&]|&amp;)*", part) for part in parts)


def test_a_cut_code_block_is_closed_and_opened_under_its_header() -> None:
    parts = split_markdown("Look:\n```python\n" + "x = 1\n" * 100 + "```\nDone.", 300)
    assert len(parts) > 2
    assert all(part.startswith("```python\n") for part in parts[1:])
    assert all(part.endswith("\n```") for part in parts[:-1])
    assert parts[-1].endswith("```\nDone.")


def test_a_fence_is_closed_by_its_own_kind_only() -> None:
    assert open_fence("````md\n```\n") == "````md"
    assert closing("````md") == "````"
    assert open_fence("~~~\n```\n~~~") == ""


def test_a_limit_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="200"):
        split_markdown("text", 10)
