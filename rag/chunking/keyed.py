"""Cutting data by its keys: TOML, YAML and JSON. A chunk begins at a key of the top level, or of the next where that one is large.

Read by rows and not by a parser: a template of YAML parses as nothing, and its keys stand at the beginning of their rows all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag.chunking.doctext import clipped, comment_above
from rag.chunking.outline import ATTACHED, NEVER, Definition, Outline
from rag.types import Kind

_NEXT_LEVEL, _AFTER_ITS_KEY, _DEEPER, _PER_LEVEL, _DEEPEST, _IN_TEXT = 0.35, 1.5, 0.7, 0.15, 2.0, 2.5
_LONGEST_NAME = 120
_CLOSER = re.compile(r"\s*[)\]}]")


@dataclass(frozen=True, slots=True)
class Key:
    """A key that begins its row. `level`: 1 at the top, 2 below it; 0 ends what is open and has no name."""

    row: int
    level: int
    name: str


@dataclass(slots=True)
class Keys:
    """`costs`: of beginning at a row that is no key, None for comments (they go with what follows)."""

    keys: list[Key]
    costs: list[float | None]


Reader = Callable[[list[str]], Keys]


def outline_by_keys(lines: list[str], language: str) -> Outline:
    """Prices and keys of a document in one of `KEYED`. A key of the second level has that of the first as its scope; one that
    holds a single row is not named."""
    read = KEYED[language](lines)
    costs = [NEVER if not line.strip() else ATTACHED if _CLOSER.match(line) else cost for line, cost in zip(lines, read.costs, strict=True)]
    last = -1
    for key in read.keys:
        price = 0.0 if key.level < 2 else _NEXT_LEVEL if last < 0 or any(lines[last + 1 : key.row]) else _AFTER_ITS_KEY
        costs[key.row] = price
        last = key.row if key.level < 2 else -1
    opening = next((row for row, line in enumerate(lines) if line.strip()), 0)
    if lines[opening].strip() in ("{", "["):  # a bracket alone says nothing
        below = next((row for row in range(opening + 1, len(lines)) if lines[row].strip()), opening)
        costs[below] = ATTACHED
    comments = [cost is None for cost in read.costs]
    starts = {key.row: _first_row(lines, comments, key.row) for key in read.keys}
    return Outline(_with_comments(costs), Kind.MODULE, list(_definitions(lines, comments, read.keys, starts)))


def _first_row(lines: Sequence[str], comments: Sequence[bool], row: int) -> int:
    while row > 0 and comments[row - 1] and lines[row - 1].strip():
        row -= 1
    return row


def _with_comments(costs: Sequence[float | None]) -> list[float]:
    """Comments cost what the row below them does, which in turn is attached to them."""
    priced: list[float] = [NEVER] * len(costs)
    below: float = 0.0
    for row in range(len(costs) - 1, -1, -1):
        cost = costs[row]
        if cost is None:
            priced[row] = below
        else:
            priced[row] = cost
            if cost != NEVER:
                below = cost
    for row in range(1, len(costs)):
        if costs[row - 1] is None and priced[row] != NEVER:
            priced[row] = ATTACHED
    return priced


def _definitions(lines: Sequence[str], comments: Sequence[bool], keys: Sequence[Key], starts: dict[int, int]) -> Iterator[Definition]:
    ends = [0] * len(keys)
    until = [len(lines)] * 3  # by level: the first row of the next key that ends one of that level
    for index in range(len(keys) - 1, -1, -1):
        level, start = keys[index].level, starts[keys[index].row]
        end = until[level] - 1
        row = keys[index].row
        indent = _indent(lines[row])
        while end > row and (not lines[end].strip() or comments[end] or (_CLOSER.match(lines[end]) and _indent(lines[end]) < indent)):
            end -= 1
        ends[index] = end
        until = [start if at >= level else row for at, row in enumerate(until)]
    outer, position = "", -1
    parent = -1
    for key, end in zip(keys, ends, strict=True):
        if key.level < 2:
            outer, parent = key.name, -1
        if not key.name or (key.level == 2 and end == key.row):
            continue
        position += 1
        start = starts[key.row]
        doc = comment_above([lines[row] for row in range(start, key.row)])
        scope = outer if key.level == 2 else ""
        yield Definition(key.name, Kind.MODULE, scope, start, key.row, end, parent if key.level == 2 else -1, "", doc)
        if key.level == 1:
            parent = position


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _named(raw: str) -> str:
    return clipped(" ".join(raw.strip().strip("\"'").split()))[:_LONGEST_NAME]


_TOML_TABLE = re.compile(r"\s*\[\[?\s*([^\[\]#=]+?)\s*\]\]?\s*(?:#|$)")
_TOML_KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_TOML_TOKEN = re.compile(r"""\"{3}|'{3}|\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[\[{]|[\]}]|\#""")


def _toml(lines: list[str]) -> Keys:
    keys: list[Key] = []
    costs: list[float | None] = []
    quote, in_table, depth = "", False, 0
    for row, line in enumerate(lines):
        if quote:
            costs.append(_IN_TEXT)
        elif line.lstrip().startswith("#"):
            costs.append(None)
            continue
        else:
            costs.append(_DEEPER + _PER_LEVEL * min(depth, 4))
            if depth == 0 and (table := _TOML_TABLE.match(line)):
                keys.append(Key(row, 1, _named(table[1])))
                in_table = True
                continue
            if depth == 0 and (key := _TOML_KEY.match(line)):
                keys.append(Key(row, 2 if in_table else 1, _named(key[1])))
        quote, depth = _toml_state(line, quote, depth)
    return Keys(keys, costs)


def _toml_state(line: str, quote: str, depth: int) -> tuple[str, int]:
    """The quotes of a text that is open after the line, "" for none, and how many brackets are."""
    position = 0
    while position < len(line):
        if quote:
            end = line.find(quote, position)
            if end < 0:
                return quote, depth
            quote, position = "", end + 3
            continue
        token = _TOML_TOKEN.search(line, position)
        if token is None or token[0] == "#":
            break
        position = token.end()
        if token[0] in ('"""', "'''"):
            quote = token[0]
        elif token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth = max(0, depth - 1)
    return quote, depth


_YAML_KEY = re.compile(
    r"( *)((?:- +)*)(\"[^\"]*\"|'[^']*'|[^\s#&*!|>{}\[\],?\"'%@`:-][^:#\n]{0,200}?|-[^\s:][^:#\n]{0,200}?)\s*:(?:\s+(.*))?$"
)
_YAML_TEXT = re.compile(r"(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_YAML_NAMES = frozenset({"name", "id", "title", "key", "alias", "job_name"})


def _yaml(lines: list[str]) -> Keys:
    keys: list[Key] = []
    costs: list[float | None] = []
    text_within = -1  # deeper than so many columns: a block of text
    second = 0  # the column of the second level below the key at the top, 0 until it is seen, -1 where it is a list at the top's
    for row, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        bare = line.strip()
        if not bare:
            costs.append(_IN_TEXT)
            continue
        if text_within >= 0 and indent > text_within:
            costs.append(_IN_TEXT)
            continue
        text_within = -1
        if bare.startswith("#"):
            costs.append(None)
            continue
        costs.append(min(_DEEPER + _PER_LEVEL * (indent // 2), _DEEPEST))
        if bare in ("---", "...") or bare.startswith("--- "):
            keys.append(Key(row, 0, ""))
            second = 0
            continue
        found = _YAML_KEY.match(line)
        item = bool(bare.startswith("- ") or bare == "-")
        if _YAML_TEXT.search(line):
            text_within = indent + (len(found[2]) if found and found[2] else 0)
        name = _yaml_name(found, item)
        under = bool(keys) and keys[-1].level > 0
        if indent == 0 and not item and found:
            keys.append(Key(row, 1, name))
            second = 0
        elif indent == 0 and item:  # a list at the top, or the list of the key above
            top = not under or not any(key.level == 1 and not _is_item(lines[key.row]) for key in keys[-1:] + _last_top(keys))
            keys.append(Key(row, 1 if top else 2, name))
            second = -1
        elif indent and (found or item) and under and second in (0, indent) and not _is_item(lines[_last_top(keys)[0].row]):
            second = indent
            keys.append(Key(row, 2, name))
    return Keys(keys, costs)


def _yaml_name(found: re.Match[str] | None, item: bool) -> str:
    """Of an item of a list, what it calls itself; else its key."""
    if found is None:
        return ""
    if not item:
        return _named(found[3])
    value = (found[4] or "").strip()
    return _named(value) if found[3] in _YAML_NAMES and value and value[0] not in "|>{[&*" else ""


def _last_top(keys: Sequence[Key]) -> list[Key]:
    return next(([key] for key in reversed(keys) if key.level < 2), list(keys[:1]))


def _is_item(line: str) -> bool:
    return line.startswith("-")


_JSON_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|//[^\n]*|/\*.*?(?:\*/|\Z)|[{\[]|[}\]]|[A-Za-z_$][\w$]*|\n", re.DOTALL
)
_JSON_COLON = re.compile(r"\s*:")


def _json(lines: list[str]) -> Keys:
    text = "\n".join(lines)
    keys: list[Key] = []
    costs: list[float | None] = [_IN_TEXT] * len(lines)
    open_: list[str] = []
    row, begun = 0, -1  # the row whose first token was seen
    for token in _JSON_TOKEN.finditer(text):
        first = token[0][0]
        if first == "\n":
            row += 1
            continue
        is_first, begun = begun != row, row
        depth = len(open_)
        if first == "/":
            if is_first:
                for inner in range(row, row + token[0].count("\n") + 1):
                    costs[inner] = None
            row += token[0].count("\n")
            begun = row
            continue
        if is_first:
            costs[row] = min(_DEEPER + _PER_LEVEL * max(depth - 2, 0), _DEEPEST)
            if first in "{[" and depth == 1 and open_[0] == "[":
                keys.append(Key(row, 1, ""))  # an entry of a list
            elif first in "{[" and depth == 2:
                keys.append(Key(row, 2, ""))
            elif first not in "{[}]" and 1 <= depth <= 2 and open_[-1] == "{" and _JSON_COLON.match(text, token.end()):
                keys.append(Key(row, depth, _named(token[0])))
        if first in "{[":
            open_.append(first)
        elif first in "}]" and open_:
            open_.pop()
    return Keys(keys, costs)


KEYED: dict[str, Reader] = {"toml": _toml, "yaml": _yaml, "json": _json}
