"""Scripts and styles inside markup: which rows they have, in which language, and how their outline becomes part of the whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from rag.chunking.outline import ATTACHED, DEEPEST, Definition, Outline

_LANG = re.compile(r"""\b(lang|type)\s*=\s*["']?([\w./+-]{1,40})""")
_SCRIPTS = {
    **dict.fromkeys(("ts", "typescript", "text/typescript"), "typescript"),
    "tsx": "tsx",
    **dict.fromkeys(("", "js", "jsx", "javascript", "module", "text/javascript", "application/javascript", "text/babel"), "javascript"),
}
_STYLES = {**dict.fromkeys(("", "css", "postcss", "text/css"), "css"), "scss": "scss"}


@dataclass(frozen=True, slots=True)
class Embedded:
    """Rows start..end (exclusive) in a language of their own. `cost`: of beginning at them, for the element that they are in."""

    start: int
    end: int
    language: str
    cost: float


def embedded_in(node: Node, kind: str, cost: float) -> Embedded | None:
    """The rows between the tags of a script or style element, None for another element and for one in an unknown language."""
    if kind not in ("script_element", "style_element"):
        return None
    opening = next((child for child in node.named_children if child.type == "start_tag"), None)
    if opening is None:
        return None
    closing = next((child for child in node.named_children if child.type == "end_tag"), None)
    stated = {name: value.lower() for name, value in _LANG.findall((opening.text or b"")[:1000].decode("utf-8", "replace"))}
    known = _SCRIPTS if kind == "script_element" else _STYLES
    language = known.get(stated.get("lang") or stated.get("type", ""))
    start, end = opening.end_point[0] + 1, closing.start_point[0] if closing is not None else node.end_point[0] + 1
    return Embedded(start, end, language, cost) if language and start < end else None


def joined(outline: Outline, inner: Outline, place: Embedded, lines: Sequence[str]) -> Outline:
    """The outline with that of embedded rows in its place. Definitions are in no order, and their parents unknown."""
    costs = list(outline.costs)
    for row, cost in enumerate(inner.costs, place.start):
        costs[row] = cost if cost >= ATTACHED else min(cost + place.cost, DEEPEST + cost)
    first = next((row for row in range(place.start, place.end) if lines[row].strip()), None)
    if first is not None:  # an opening tag alone says little
        costs[first] = ATTACHED
    return replace(outline, costs=costs, definitions=[*outline.definitions, *(shifted(d, place.start) for d in inner.definitions)])


def shifted(definition: Definition, rows: int) -> Definition:
    """The definition so many rows further down."""
    return replace(definition, start=definition.start + rows, row=definition.row + rows, end=definition.end + rows, parent=-1)
