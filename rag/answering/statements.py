"""Cuts a stream of text into statements: a sentence, a line, or a whole fenced block, each with the citations that follow it.

Two properties hold for every way of cutting the stream into pieces: the statements joined give the text back, and they are the same
statements. So a citation, a link or a fence that arrives in two pieces is judged whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# What a citation can look like in a model's text: [1] [1, 3] [1-3] [^1] [#1] [chunk 1] and the brackets some models prefer, 【1†lines】.
CITATION = r"\[\s*(?:chunks?\s*)?[#^]?\d{1,9}(?:\s*(?:,|;|-|–|and|&)\s*[#^]?\d{1,9}){0,30}\s*\]|【[^【】\n]{1,40}】"

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})")
_MAYBE_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[`~]|\Z)")
_BOUNDARY = re.compile(rf"[.!?][\"'”’)*_]*(?:[ \t]*(?:{CITATION}))*[.]?[ \t]+(?=[^\s\[【])", re.IGNORECASE)
_OPENS_SENTENCE = re.compile(r"[A-Z`*_\"“'(]|[^\W\d_a-z]")
_NO_END = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|al|fig|no|\w)$|^[\s>*+-]*\d+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` as the model wrote it, line end included. `fenced`: a code block with its fences (the closing one may be missing)."""

    text: str
    fenced: bool = False


class StatementSplitter:
    """Feed it text as it comes; what it returns is complete. `close` returns the rest."""

    def __init__(self) -> None:
        self._buffer = ""
        self._at_line_start = True

    def feed(self, text: str) -> list[Statement]:
        self._buffer += text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        return self._drain(closing=False)

    def close(self) -> list[Statement]:
        return self._drain(closing=True)

    def _drain(self, *, closing: bool) -> list[Statement]:
        ready: list[Statement] = []
        while self._buffer:
            found = self._next(closing)
            if found is None:
                break
            ready.append(found)
            self._buffer = self._buffer[len(found.text) :]
            self._at_line_start = found.text.endswith("\n")
        return ready

    def _next(self, closing: bool) -> Statement | None:
        buffer = self._buffer
        newline = buffer.find("\n")
        whole_line = closing or newline >= 0
        if self._at_line_start:
            if not whole_line and _MAYBE_FENCE.match(buffer):
                return None
            fence = _FENCE.match(buffer)
            if fence:
                return self._fenced(fence.group(1), newline, closing)
        line = buffer if newline < 0 else buffer[: newline + 1]
        end = _sentence_end(line)
        if end:
            return Statement(line[:end])
        return Statement(line) if whole_line else None

    def _fenced(self, marker: str, newline: int, closing: bool) -> Statement | None:
        """The block up to its closing fence: a line of its own with at least as many marks."""
        if newline >= 0:
            end = re.compile(rf"^[ \t]*(?:>[ \t]?)*{re.escape(marker[0])}{{{len(marker)},}}[ \t]*(\n|\Z)", re.MULTILINE)
            match = end.search(self._buffer, newline + 1)
            if match and (match.group(1) or closing):
                return Statement(self._buffer[: match.end()], fenced=True)
        return Statement(self._buffer, fenced=True) if closing else None


def _sentence_end(line: str) -> int:
    """Where the first sentence of the line ends, its citations and the space after it included; 0 if that is not before the line's end."""
    for match in _BOUNDARY.finditer(line):
        head = line[: match.start()]
        if head.count("`") % 2 == 0 and _OPENS_SENTENCE.match(line, match.end()) and not _NO_END.search(head):
            return match.end()
    return 0
