"""Cutting by lines, for what has no syntax known here: between blocks where there are some, with an overlap."""

from __future__ import annotations

from rag.chunking.outline import NEVER, Outline
from rag.types import Kind

_AFTER_BLANK, _OUTERMOST, _INDENTED, _DEEPEST = 0.1, 0.2, 0.3, 8


def outline_by_lines(lines: list[str], overlap: float) -> Outline:
    """A row costs more the deeper it is indented against the file's other rows, and less after a blank one."""
    costs: list[float] = []
    after_blank = True
    for line in lines:
        text = line.lstrip()
        if not text:
            costs.append(NEVER)
            after_blank = True
            continue
        indent = min(len(line) - len(text), _DEEPEST)
        closing = text[0] in ")]}"
        base = (_AFTER_BLANK if after_blank else _OUTERMOST) if not indent else _INDENTED + indent * 0.05 - 0.1 * after_blank
        costs.append(base + closing)
        after_blank = False
    return Outline(costs, Kind.LINES, overlap=overlap)
