"""Cutting Markdown so that no part leaves a code fence open and no entity is halved."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$")


def open_fence(text: str) -> str:
    """The line that opens the code block in which `text` ends ("```python"), "" if it ends outside of one."""
    opener = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not fence:
            continue
        mark, info = fence["mark"], fence["info"].strip()
        if not opener:
            if mark[0] == "~" or "`" not in info:
                opener = mark + info
        elif mark[0] == opener[0] and len(mark) >= len(_mark(opener)) and not info:
            opener = ""
    return opener


def closing(opener: str) -> str:
    """What ends the block that `opener` began."""
    return _mark(opener)


def _mark(opener: str) -> str:
    return opener[: len(opener) - len(opener.lstrip(opener[0]))] if opener else ""


def split_markdown(text: str, limit: int) -> list[str]:
    """Parts of at most `limit` characters (at least 200), which hold all of the text in its order.

    A code block that is cut is closed, and opened again under its own header. The cut comes after a line where one ends in the second
    half of the part, else after a word, else anywhere but within `&amp;`. Raises: ValueError for a smaller limit.
    """
    if limit < 200:
        raise ValueError("a part holds at least 200 characters")
    parts: list[str] = []
    rest = text
    reopened = ""
    while len(reopened) + len(rest) > limit:
        room = limit - len(reopened) - 64  # for the closing fence
        cut = _cut(rest, room)
        part = reopened + rest[:cut]
        opener = open_fence(part)[:64]
        if opener:
            part += ("" if part.endswith("\n") else "\n") + closing(opener)
        parts.append(part)
        rest = rest[cut:]
        reopened = f"{opener}\n" if opener else ""
    if rest or not parts:
        parts.append(reopened + rest)
    return parts


def _cut(text: str, room: int) -> int:
    """Where to cut within the first `room` characters: an index > 0."""
    window = text[:room]
    for separator in ("\n\n", "\n", " "):
        at = window.rfind(separator)
        if at >= room // 2:
            return at + len(separator)
    entity = window.rfind("&")
    if entity > 0 and room - entity < 6 and ";" not in window[entity:]:
        return entity
    return room
