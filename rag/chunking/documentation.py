"""Where the documentation of a definition or a file stands: docstrings, the comment above, the comment that begins the file."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from rag.chunking.doctext import first_sentence, is_legal_or_machine, plain
from rag.chunking.grammars import Grammar
from rag.chunking.names import text_of
from rag.chunking.outline import Definition

_MOST_ROWS = 60
_DIRECTIVE_ROW = ("<?php", "{-#", "#!", "'use strict'", '"use strict"')


def docstring(body: Node) -> str:
    """First sentence of the string that a body begins with, "" for none."""
    for child in body.named_children[:4]:
        if child.type == "comment":
            continue
        held = child.named_child(0) if child.type == "expression_statement" and child.named_child_count == 1 else child
        if held is None or held.type not in ("string", "concatenated_string"):
            return ""
        return first_sentence(plain(text_of(held, 8000).split("\n")))
    return ""


def described(node: Node) -> str:
    """First sentence of the description that a definition of a GraphQL schema begins with, "" for none."""
    first = node.named_child(0)
    return first_sentence(plain(text_of(first, 8000).split("\n"))) if first is not None and first.type == "description" else ""


def file_comment(lines: Sequence[str], trivia: Sequence[int], grammar: Grammar, definitions: Sequence[Definition]) -> str:
    """What the first comments say of their file: no licence, no directive to a tool, and not the comment of the first definition.

    `trivia[row]` is not 0 where the row is a comment. Grammars that mark such comments (Rust's `//!`) are taken at their word.
    """
    row = 0
    while row < min(len(lines), 200):
        line = lines[row].strip()
        if not line or line.startswith(_DIRECTIVE_ROW):
            row += 1
            continue
        if not trivia[row]:
            return ""
        begin = row
        while row < len(lines) and trivia[row] and (row == begin or not lines[row].lstrip().startswith("/*")):
            row += 1
        text = plain(grammar.peculiar.unmarked(lines[begin : min(row, begin + _MOST_ROWS)]))
        marked = bool(grammar.inner_doc)
        of_definition = any(d.start <= begin < d.row and not marked for d in definitions[:3])
        says = "" if is_legal_or_machine(text) or of_definition else first_sentence(text)
        if says and (not marked or line.startswith(grammar.inner_doc)):
            return says
    return ""
