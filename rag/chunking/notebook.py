"""Cutting a Jupyter notebook by its cells, in the JSON that its file is.

A chunk's text is the file's own lines. Rows of a code cell that hold one line of source each are priced, and their definitions named, by
the syntax of the notebook's language.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tree_sitter import Node, Parser
from tree_sitter_language_pack import get_parser

from rag.chunking.doctext import clipped
from rag.chunking.embedded import shifted
from rag.chunking.grammars import grammar_for
from rag.chunking.outline import ATTACHED, NEVER, Definition, Outline
from rag.chunking.syntax import outline_by_syntax
from rag.types import Kind

# The price of a row in JSON, of a part of a cell, of its source, of metadata, and on top of a row's price in its own language.
_ROW, _PART, _SOURCE, _OTHER, _INSIDE = 2.0, 1.5, 0.3, 0.2, 0.4
_LONGEST_VALUE = 200_000


def outline_by_cells(lines: list[str]) -> Outline:
    """Prices and cells: a definition each, called by its heading or by its number from 1 and its kind."""
    costs = [NEVER if not line.strip() else _ROW for line in lines]
    parser: Parser = get_parser("json")
    root = parser.parse("\n".join(lines).encode("utf-8", "replace")).root_node
    notebook = next((child for child in root.named_children if child.type == "object"), None)
    parts = dict(_pairs(notebook)) if notebook is not None else {}
    definitions: list[Definition] = []
    language = _language(parts.get("metadata"))
    cells = parts.get("cells")
    numbered = [cell for cell in cells.named_children if cell.type == "object"] if cells is not None else []
    for part in parts.values():
        costs[part.start_point[0]] = min(costs[part.start_point[0]], _OTHER)
    for number, cell in enumerate(numbered, 1):
        definitions.extend(_cell(cell, number, lines, costs, language))
    for row, line in enumerate(lines):
        if line.lstrip().startswith(("]", "}")):
            costs[row] = ATTACHED
    return Outline(costs, Kind.MODULE, definitions)


def _cell(cell: Node, number: int, lines: Sequence[str], costs: list[float], language: str) -> Iterator[Definition]:
    start, end = cell.start_point[0], cell.end_point[0]
    parts = dict(_pairs(cell))
    kind = str(_value(parts.get("cell_type")) or "cell")
    for row in range(start, end + 1):
        costs[row] = min(costs[row], _ROW)
    for part in parts.values():
        costs[part.start_point[0]] = min(costs[part.start_point[0]], _PART)
    source = parts.get("source")
    if source is not None:
        costs[source.start_point[0]] = min(costs[source.start_point[0]], _SOURCE)
    rows = _source_rows(source, lines)
    text = [line for _, line in rows] or str(_value(source) or "").split("\n")
    name = f"cell {number} ({kind})"
    heading = next((line.strip("# \t") for line in text if line.lstrip().startswith("#")), "") if kind == "markdown" else ""
    yield Definition(clipped(heading) or name, Kind.SECTION if kind == "markdown" else Kind.MODULE, "", start, start, end, -1)
    grammar = grammar_for(language) if kind == "code" else None
    if rows:
        inner = outline_by_syntax(text, grammar) if grammar is not None else None
        first = rows[0][0]
        for offset, (row, _) in enumerate(rows):
            price = inner.costs[offset] if inner is not None else 0.0
            costs[row] = ATTACHED if offset == 0 else _ROW if price == NEVER else min(price + _INSIDE, ATTACHED)
        if inner is not None:
            yield from (shifted(definition, first) for definition in inner.definitions if definition.kind is not Kind.MODULE)
    if costs[start] != NEVER:
        costs[start] = 0.0


def _source_rows(source: Node | None, lines: Sequence[str]) -> list[tuple[int, str]]:
    """(row, line of source) where each line has a row of its own, and the rows are consecutive; else none."""
    if source is None or source.type != "array":
        return []
    rows: list[tuple[int, str]] = []
    for string in source.named_children:
        row = string.start_point[0]
        value = _value(string)
        if not isinstance(value, str) or string.end_point[0] != row or (rows and row != rows[-1][0] + 1) or row == source.start_point[0]:
            return []
        rows.append((row, value.rstrip("\n").replace("\n", " ")))
    return rows


def _pairs(node: Node) -> Iterator[tuple[str, Node]]:
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "pair" and key is not None and value is not None:
            yield str(_value(key) or ""), value


def _value(node: Node | None) -> object:
    """What a small piece of JSON says, None for what is none."""
    if node is None or node.type != "string" or node.end_byte - node.start_byte > _LONGEST_VALUE:
        return None
    with suppress(ValueError):
        return json.loads((node.text or b"").decode("utf-8", "replace"), strict=False)
    return None


def _language(metadata: Node | None) -> str:
    parts = dict(_pairs(metadata)) if metadata is not None and metadata.type == "object" else {}
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        held = parts.get(part)
        found = _value(dict(_pairs(held)).get(key)) if held is not None and held.type == "object" else None
        if isinstance(found, str) and found:
            return found.lower()
    return "python"
