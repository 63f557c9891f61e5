"""Definitions as they were found -> in order, each with what it lies in, and those that belong together as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.chunking.outline import ATTACHED, BODY, Definition


def merged(found: Sequence[Definition], costs: list[float]) -> list[Definition]:
    """Neighbours of one name in one scope become one definition, as a signature with the equations below it; `costs` are raised there."""
    merged_: list[Definition] = []
    for definition in sorted(found, key=lambda d: (d.start, -d.end)):
        last = merged_[-1] if merged_ else None
        if last is None or (last.name, last.scope, last.kind) != (definition.name, definition.scope, definition.kind):
            merged_.append(definition)
            continue
        costs[definition.start] = ATTACHED if last.end == last.row else max(costs[definition.start], BODY)
        merged_[-1] = replace(last, end=max(last.end, definition.end))
    return merged_


def nested(found: list[Definition]) -> list[Definition]:
    """In order of first rows, outer before inner, each with the index of what it lies in; the same thing found twice is kept once."""
    ordered = sorted(found, key=lambda d: (d.start, -d.end))
    placed: list[Definition] = []
    open_: list[int] = []
    for definition in ordered:
        while open_ and placed[open_[-1]].end < definition.end:
            open_.pop()
        if open_ and placed[open_[-1]].row == definition.row and placed[open_[-1]].name == definition.name:
            continue
        placed.append(replace(definition, parent=open_[-1] if open_ else -1))
        open_.append(len(placed) - 1)
    return placed
