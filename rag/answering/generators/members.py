"""Several small definitions are one chunk, which is called after one of them; here is which of them a question means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from rag.types import Chunk, Kind

COMMENT = re.compile(r"\"\"\"|\'\'\'|#(?!\w)|//|/\*|\*\s|--\s|;;|<!--")
_ABOVE = re.compile(r"(?:\"\"\"|\'\'\'|#|//|/\*|\*|--\s|;;|@\w)")  # lines that belong to the definition below: comments, decorators
# What stands before a name that is defined; of a method in Go its receiver too.
_KEYWORD = (
    r".*?\b(?:def|function|func|fn|fun|sub|proc|class|struct|interface|trait|module|enum|type|record|object)\b(?:\s*\([^()\n]*\))?[^\n(=]*?"
)
_CALLABLE = (r"[^\n=(]*?", r"\s*(?:<[^\n<>]*>)?\(")  # of a language whose methods need no word: what stands around the name
_LINE_CHARS = 300
_NAMED_TWICE = 2  # what a word of the question says in a name, against elsewhere


def member_meant(chunk: Chunk, count: Callable[[str], int]) -> Chunk | None:
    """The chunk as if it were called after that one of its definitions which holds most of what is asked, None where it is called so
    already, or where they hold as much. `count`: how many words of the question a text holds. Lines and text stay the chunk's."""
    lines = chunk.text.split("\n")
    heads = _heads(chunk, lines)
    if len(heads) < 2:
        return None
    starts = [_with_what_stands_above(lines, head, above) for head, above in zip(heads.values(), [-1, *heads.values()], strict=False)]
    scores = {
        name: count("\n".join(lines[start:end])) + (_NAMED_TWICE - 1) * count(name)
        for name, start, end in zip(heads, starts, [*starts[1:], len(lines)], strict=True)
    }
    own = chunk.symbol.rpartition(".")[2]
    best = max(scores, key=lambda name: scores[name])
    if best == own or scores[best] <= scores.get(own, 0) or own not in scores:
        return None
    place = list(heads).index(best)
    return replace(
        chunk,
        symbol=_symbol(chunk, best, inside=_indent(lines[heads[best]]) > _indent(lines[heads[own]]) and heads[best] > heads[own]),
        signature=lines[heads[best]].strip().rstrip("{:; "),
        doc=_said_above(lines[starts[place] : heads[best]]),
        text="\n".join(lines[starts[place] : ([*starts[1:], len(lines)])[place]]),
        kind=Kind.METHOD if "." in chunk.symbol else Kind.FUNCTION,
    )


def _symbol(chunk: Chunk, name: str, *, inside: bool) -> str:
    """What is defined around a chunk's symbol, beside it or `inside` it: "Depot.Door.open", Door -> "Depot.Door"; "Door.open", shut ->
    "Door.shut"; the class "Door", shut -> "Door.shut"."""
    parts = chunk.symbol.split(".")
    if name in parts:
        return ".".join(parts[: parts.index(name) + 1])
    return ".".join([*(parts if inside else parts[:-1]), name])


def _heads(chunk: Chunk, lines: list[str]) -> dict[str, int]:
    """Name -> the line that defines it, of those that follow each other in the order in which the chunk names them."""
    heads: dict[str, int] = {}
    least = 0
    for name in chunk.defines:
        whole = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
        found = _first(rf"{_KEYWORD}{whole}", lines, least)
        if found is None:
            found = _first(rf"{_CALLABLE[0]}{whole}{_CALLABLE[1]}", lines, least)
        if found is not None and name not in heads:
            heads[name] = found
            least = found + 1
    return heads


def _first(pattern: str, lines: list[str], least: int) -> int | None:
    """The first line from `least` on that fits and is no comment."""
    fitting = re.compile(pattern)
    stripped = ((at, lines[at].strip()) for at in range(least, len(lines)))
    return next((at for at, line in stripped if not COMMENT.match(line) and fitting.match(line[:_LINE_CHARS])), None)


def _with_what_stands_above(lines: list[str], head: int, above: int) -> int:
    while head - 1 > above and _ABOVE.match(lines[head - 1].strip()):
        head -= 1
    return head


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _said_above(lines: list[str]) -> str:
    """The first sentence of a comment."""
    said = " ".join(words for line in lines if COMMENT.match(line.strip()) and (words := re.sub(r"^[\s/*#!-]+|[\s*/]+$", "", line)))
    return re.split(r"(?<=[.!?])\s", said, maxsplit=1)[0]
