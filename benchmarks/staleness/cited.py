"""Whether what a citation stands on is still there. Pure."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Of a citation, at the new head. All but HOLDS lead a reader to something that was not meant."""

    HOLDS = "holds"
    SHIFTED = "lines shifted"  # the text stands in the file, at other lines
    CHANGED = "text gone"
    DELETED = "file gone"


def state(cited: str, start_line: int, end_line: int, text: str | None) -> State:
    """`cited`: the lines as the answer had them. `text`: the file at the new head, None if there is none. Lines from 1, inclusive."""
    if text is None:
        return State.DELETED
    lines = text.split("\n")
    if "\n".join(lines[start_line - 1 : end_line]) == cited:
        return State.HOLDS
    return State.SHIFTED if f"\n{cited}\n" in f"\n{text}\n" else State.CHANGED
