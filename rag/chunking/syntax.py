"""Cutting by syntax tree: one walk, which prices rows and collects definitions.

The walk never recurses and enters only what spans several rows, so that it is bounded by the rows of a file and not by how deep or
long its lines are. `str(node)` would crash the process on deep trees and is not used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from tree_sitter import Node, Parser
from tree_sitter_language_pack import get_parser

from rag.chunking.doctext import comment_above
from rag.chunking.documentation import described, docstring, file_comment
from rag.chunking.embedded import Embedded, embedded_in, joined
from rag.chunking.grammars import Grammar, grammar_for, words
from rag.chunking.names import body_of, is_comment, is_text, name_of, role_of, signature_of
from rag.chunking.nesting import merged, nested
from rag.chunking.outline import (
    AFTER_BANNER,
    ATTACHED,
    BODY,
    CALLBACK,
    DEEPEST,
    FIRST_OF_BODY,
    MEMBER,
    NESTED,
    NEVER,
    STATEMENT,
    TOP,
    VARIABLE,
    Definition,
    Outline,
    Role,
)
from rag.types import Kind

_MOST_NESTED_DEFINITIONS = 12
_NOTHING_DEFINED: tuple[Role | None, str, str, int] = (None, "", "", -1)
_BLANKS = " \t\n\r\x0b\f"
_NOTE, _MARK = 1, 2  # rows that go with what follows: comments, and what is none (attributes, decorators, `template <…>`)
_BODY_LIKE = ("body", "block", "list", "statements", "compound_statement")
_ANONYMOUS = words(
    "arrow_function function_expression generator_function func_literal lambda lambda_literal lambda_expression closure_expression do_block"
    " anonymous_method_expression anonymous_function function_definition_expression"
)
# `EXPORT_API` before a name or alone on its line: what it stands for is unknown, and it derails the parser
_MACRO = re.compile(r"^[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]*[ \t]*$|(?<![#\w\"'])[A-Z][A-Z0-9]*_[A-Z0-9_]*(?=[ \t]+[A-Za-z_~])", re.MULTILINE)
_CLOSERS = re.compile(r"\s*(?:[)\]}{]|(?:end|else|elsif|elif|fi|done|esac|then|do|rescue|ensure|when|\*/)\b(?!\s*[(=.:\w]))")
_CLOSING_TAG = re.compile(r"\s*(?:</|\{/|\{:|/?>)")


@dataclass(slots=True)
class _Frame:
    """Something of several rows whose children are being visited. `inside`: index of the definition it lies in, -1 for none."""

    cost: float
    row: int
    scope: str
    inside: int
    in_function: bool
    in_class: bool
    definitions: int
    anonymous: bool = False


@cache
def _parser(grammar: str) -> Parser:
    return get_parser(grammar)  # type: ignore[arg-type, no-any-return, unused-ignore]


def outline_by_syntax(lines: list[str], grammar: Grammar) -> Outline:
    """Prices and definitions of source code. Code that does not parse is walked as far as the parser understood it.

    An element in another language (a script in HTML) is read in a walk of its own.
    """
    text = "\n".join(lines)
    if grammar.macros:
        text = _MACRO.sub(lambda match: " " * len(match[0]), text)
    source = text.encode("utf-8", "replace")
    walk = _Walk(lines, grammar)
    outline = walk.run(_parser(grammar.grammar).parse(source).root_node)
    for place in walk.embedded:
        if (inner := grammar_for(place.language)) is not None:
            outline = joined(outline, outline_by_syntax(lines[place.start : place.end], inner), place, lines)
    return replace(outline, definitions=nested(outline.definitions)) if walk.embedded else outline


class _Walk:
    def __init__(self, lines: list[str], grammar: Grammar) -> None:
        self._lines = lines
        self._grammar = grammar
        # A row that begins with no node of its own (operators, text of a string) is the worst place but for those that are attached.
        self._costs = [ATTACHED - 1 if line.strip() else NEVER for line in lines]
        self._trivia = bytearray(len(lines) + 1)
        self._found: list[Definition] = []
        self._headers: list[tuple[int, int, float]] = []
        self.embedded: list[Embedded] = []
        self._section = -1
        # How many bytes of a row are blank before its first word: places in a row are counted in bytes, and all of these have one.
        self._indents = [len(line) - len(line.lstrip(_BLANKS)) for line in lines]
        self._defining = frozenset({*grammar.functions, *grammar.classes, *grammar.spaces, *grammar.variables}) | (
            {"call"} if grammar.grammar == "elixir" else set()
        )

    def run(self, root: Node) -> Outline:
        frames = [_Frame(TOP, -1, "", -1, False, False, 0)]
        siblings = [iter(root.named_children)]
        while siblings:
            frame = frames[-1]
            for node in siblings[-1]:
                inner = self._visit(node, frame)
                if inner is not None and (children := node.named_children):
                    frames.append(inner)
                    siblings.append(iter(children))
                    break
            else:
                siblings.pop()
                frames.pop()
        return self._finish(root)

    def _visit(self, node: Node, frame: _Frame) -> _Frame | None:
        """Prices the node's first row and notes what it defines. Returns the frame for its children, None to pass them by."""
        row, column = node.start_point
        end_row, end_column = node.end_point
        if end_column == 0 and end_row > row:
            end_row -= 1
        kind = node.type
        grammar = self._grammar
        peculiar = grammar.peculiar
        if peculiar.body and kind == peculiar.body and (body := self._body_after_its_header(row, column, end_row, frame)) is not None:
            return body if end_row > row else None
        if peculiar.embeds and (embedded := embedded_in(node, kind, frame.cost)) is not None:
            self.embedded.append(embedded)
        if kind in grammar.trivia or (grammar.trivia_prefix and self._lines[row].lstrip().startswith(grammar.trivia_prefix)):
            self._note_trivia(row, column, end_row, end_column, frame, self._mark(kind, row))
            return None
        cost = min(frame.cost + STATEMENT, DEEPEST)
        if cost < self._costs[row] and self._begins(row, column):
            self._costs[row] = cost
        several = end_row > row
        role, scope_of_name, name, last_row = self._definition(node, kind, frame) if kind in self._defining else _NOTHING_DEFINED
        if name and role is not None and frame.definitions < _MOST_NESTED_DEFINITIONS:
            if kind in peculiar.scopes_rest and not several:
                frame.scope = f"{scope_of_name}.{name}" if scope_of_name else name
                return None
            outside = replace(frame, scope="") if kind in peculiar.scopes_rest or peculiar.flat else frame
            if kind in peculiar.sections:  # what follows on the same level is inside
                outside, frame.cost = replace(frame, cost=TOP), TOP + NESTED
            inside = self._define(node, role, scope_of_name, name, row, last_row if last_row >= row else end_row, outside)
            return inside if several else None
        if (not several and kind not in peculiar.opens) or is_text(kind):
            return None
        if kind.endswith(_BODY_LIKE):
            inner, row = frame.cost, frame.row  # its first statement is no further inside than the others
        elif kind in grammar.through or row == frame.row:
            inner = frame.cost
            if kind in grammar.through and kind.endswith(("declaration", "definition")):
                self._note_wrapped(node, row)
        else:
            inner = min(frame.cost + NESTED, DEEPEST)
        anonymous = kind in _ANONYMOUS
        if anonymous:
            inner = min(inner + CALLBACK, DEEPEST)
        return _Frame(
            inner, row, frame.scope, frame.inside, frame.in_function, frame.in_class, frame.definitions, anonymous or frame.anonymous
        )

    def _definition(self, node: Node, kind: str, frame: _Frame) -> tuple[Role | None, str, str, int]:
        """(role, scope, name, last row) of a node of a listed type: the name is "" for nothing that counts, the last row -1 where it is
        the node's."""
        grammar = self._grammar
        if grammar.peculiar.namer is not None:
            found = grammar.peculiar.namer(node, kind)
            if found is None or not self._counts(found.role, kind, frame):
                return _NOTHING_DEFINED
            return found.role, found.scope, found.name, found.end_row
        role = role_of(node, kind, grammar)
        if role is None or not self._counts(role, kind, frame):
            return _NOTHING_DEFINED
        return role, *name_of(node, kind, grammar), -1

    def _mark(self, kind: str, row: int) -> int:
        return _NOTE if is_comment(kind, self._lines[row]) or kind in self._grammar.peculiar.notes else _MARK

    def _body_after_its_header(self, row: int, column: int, end_row: int, frame: _Frame) -> _Frame | None:
        """The frame of a function's body that is no child of its header but the sibling after it."""
        last = self._found[-1] if self._found else None
        if last is None or not (last.row <= row and last.end == end_row):
            return None
        if row > last.row and self._begins(row, column):
            self._costs[row] = ATTACHED
        self._headers.append((last.row, row + 1, FIRST_OF_BODY))
        cost = min(frame.cost + BODY, DEEPEST)
        return _Frame(cost, row, last.symbol, len(self._found) - 1, True, False, frame.definitions + 1, frame.anonymous)

    @staticmethod
    def _counts(role: Role, kind: str, frame: _Frame) -> bool:
        """Variables count outside definitions only, properties outside functions only; a function in a function still has a name."""
        if role == "variable":
            return not frame.in_function and not frame.in_class and not frame.anonymous
        if kind in ("declaration", "field_declaration", "pair", "assignment_expression"):
            return not frame.in_function
        return True

    def _begins(self, row: int, column: int) -> bool:
        return column <= self._indents[row] and not _CLOSERS.match(self._lines[row])

    def _note_trivia(self, row: int, column: int, end_row: int, end_column: int, frame: _Frame, mark: int) -> None:
        if column > self._indents[row]:
            return  # at the end of a line of code
        if end_column and end_row == row and self._lines[row].encode("utf-8", "replace")[end_column:].strip(b" \t\f,;"):
            return
        for inner in range(row, end_row + 1):
            self._trivia[inner] = mark
        self._costs[row] = min(self._costs[row], frame.cost)

    def _note_wrapped(self, node: Node, row: int) -> None:
        """Rows of a wrapper before the definition it holds: `template <…>` goes with what follows."""
        held = node.named_child(node.named_child_count - 1) if node.named_child_count else None
        if held is not None and held.type in {*self._grammar.functions, *self._grammar.classes, *self._grammar.through}:
            for inner in range(row, held.start_point[0]):
                self._trivia[inner] = self._trivia[inner] or _MARK

    def _first_row(self, row: int) -> int:
        """The first of the comments and decorators that stand directly above."""
        while row > 0 and self._trivia[row - 1] and not self._is_file_header(row - 1):
            row -= 1
        return row

    def _is_file_header(self, row: int) -> bool:
        inner = self._grammar.inner_doc
        return bool(inner) and self._lines[row].lstrip().startswith(inner)

    def _define(self, node: Node, role: Role, scope_of_name: str, name: str, row: int, end_row: int, frame: _Frame) -> _Frame:
        scope = ".".join(part for part in (frame.scope, scope_of_name) if part)
        symbol = f"{scope}.{name}" if scope else name
        if role == "space":
            return replace(frame, scope=symbol, row=row)
        first = self._first_row(row)
        body = body_of(node)
        if self._begins(row, node.start_point[1]) or self._only_modifiers_before(row, node.start_point[1]):
            self._costs[first] = min(self._costs[first], frame.cost)
            if first < row:
                self._costs[row] = ATTACHED
        elif self._costs[row] < ATTACHED - 1 and role != "variable":
            self._costs[row] = min(self._costs[row], frame.cost)
        if body is not None:
            self._headers.append((row, self._first_of_body(body, row), FIRST_OF_BODY if role == "function" else 0.0))
        kind = Kind.CLASS if role == "class" else Kind.MODULE
        if role == "function":
            kind = (
                Kind.METHOD
                if frame.in_class or (scope_of_name and self._grammar.grammar in ("go", "cpp", "lua", "rust"))
                else Kind.FUNCTION
            )
        index = len(self._found)
        if self._grammar.peculiar.namer is not None:
            end_row = self._trimmed(row, end_row)
        if node.type in self._grammar.peculiar.sections:
            self._end_section(first)
            self._section = index
        self._found.append(
            Definition(name, kind, scope, first, row, end_row, frame.inside, self._signature(node, row), self._doc(node, body, first, row))
        )
        step = {"class": MEMBER, "function": BODY}.get(role, VARIABLE)
        return _Frame(
            min(frame.cost + step, DEEPEST),
            row,
            symbol,
            index,
            frame.in_function or role == "function",
            role == "class",
            frame.definitions + 1,
            frame.anonymous,
        )

    def _first_of_body(self, body: Node, row: int) -> int:
        """The row of the first thing in a body: the one after an opening brace."""
        first = body.start_point[0]
        if first == row or self._lines[first].strip() == "{" or self._lines[first].rstrip().endswith(("{", "do")):
            first += 1
        while first < len(self._lines) - 1 and not self._lines[first].strip():
            first += 1
        return first

    def _only_modifiers_before(self, row: int, column: int) -> bool:
        """`pub const A = …`, `private def b`, `let f = …`: keywords before the node, on its first row."""
        return bool(re.fullmatch(rb"\s*(?:[a-z_]+\s+)+", self._lines[row].encode("utf-8", "replace")[:column]))

    def _signature(self, node: Node, row: int) -> str:
        before = self._lines[row].encode("utf-8", "replace")[: node.start_point[1]].decode("utf-8", "replace").strip()
        whole = node.type in self._grammar.peculiar.whole
        return signature_of(node, before if before and self._only_modifiers_before(row, node.start_point[1]) else "", whole=whole)

    def _doc(self, node: Node, body: Node | None, first: int, row: int) -> str:
        if self._grammar.docstrings:
            return docstring(body) if body is not None else ""
        notes, peculiar = [self._lines[above] for above in range(first, row) if self._trivia[above] == _NOTE], self._grammar.peculiar
        notes = peculiar.unmarked(notes)
        if "string_literal" in peculiar.notes:  # what is indented in it is the signature again, or an example
            notes = [note for note in notes if not note.startswith("    ")] or notes
        return comment_above(notes) or (described(node) if "description" in peculiar.notes else "")

    def _trimmed(self, row: int, end_row: int) -> int:
        while end_row > row and not self._lines[end_row].strip():
            end_row -= 1
        return end_row

    def _end_section(self, before: int) -> None:
        """What lasts to the next of its kind ends above row `before`."""
        if self._section >= 0:
            section = self._found[self._section]
            self._found[self._section] = replace(section, end=max(section.end, self._trimmed(section.row, before - 1)))

    def _finish(self, root: Node) -> Outline:
        costs = self._costs
        after_comment = False
        for row in range(len(self._lines)):
            if costs[row] == NEVER:
                continue
            if self._trivia[row] and "pod" in self._grammar.peculiar.notes and self._lines[row].startswith("=head"):
                costs[row] = STATEMENT  # a heading of Perl's documentation, which stands in one node over hundreds of rows
            elif row and self._trivia[row - 1]:
                costs[row] = ATTACHED
            elif after_comment:  # a banner, set apart by a blank row
                costs[row] += AFTER_BANNER
            after_comment = bool(self._trivia[row])
        for begin, end, price in self._headers:
            for row in range(begin + 1, end):
                costs[row] = max(costs[row], ATTACHED)
            if end < len(costs) and end > begin:  # a header alone says little
                costs[end] = min(costs[end] + price, max(ATTACHED, costs[end]))
        self._end_section(len(self._lines))
        found = merged(self._found, costs) if self._grammar.peculiar.merges else self._found
        if self._grammar.peculiar.embeds:
            for row, line in enumerate(self._lines):
                if _CLOSING_TAG.match(line):
                    costs[row] = ATTACHED
        definitions = nested(found)
        module_doc = docstring(root) if self._grammar.docstrings else file_comment(self._lines, self._trivia, self._grammar, definitions)
        return Outline(costs, Kind.MODULE, definitions, module_doc)
