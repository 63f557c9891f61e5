"""How `footnote search` names the twins of a result."""

from __future__ import annotations

from typing import Any

from bot.cli.retrieving import twin_places


def twin(path: str) -> dict[str, Any]:
    return {"path": path, "start_line": 3, "end_line": 9, "permalink": ""}


def test_three_twins_are_named_and_the_others_counted() -> None:
    assert twin_places([twin("a.py")]) == "a.py:3-9"
    assert twin_places([twin(f"{name}.py") for name in "abc"]) == "a.py:3-9, b.py:3-9, c.py:3-9"
    assert twin_places([twin(f"{name}.py") for name in "abcde"]) == "a.py:3-9, b.py:3-9, c.py:3-9 and 2 more"


def test_a_name_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in twin_places([twin("a\x1b[2J.py")])
