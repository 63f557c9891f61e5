"""Secrets in text -> "[redacted:kind]", before anything else sees it. Lines keep their numbers.

Every rule starts at a fixed string (an anchor), found by plain search; from there a bounded pattern matches or not. So time grows
with the text, whatever the text is, and rules whose anchor is absent cost next to nothing. The rules themselves are in `secret_kinds`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

from rag.source.secret_kinds import ASSIGNMENTS, RULES, Rule, assigned_secret, looks_random

Span = tuple[int, int, str]

_ANCHORED = [(anchor, rule) for rule in RULES for anchor in rule.anchors]

_lock = threading.Lock()
_live: tuple[str, ...] = ()

_KEY_BEGIN = "-----BEGIN "
_KEY_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LIMIT = 20_000  # characters; an 8192-bit RSA key has 6,400
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
_BASE64_LINE = re.compile(r"(?:\\n|\\r|[ \t\"'+,.#*/]){0,40}[A-Za-z0-9+/=]{16,200}(?:\\n|\\r|[ \t\"'+,\\;)]){0,20}(?:\n|$)")
_PASSES = 16  # tokens written together without a boundary between them show one after the other, as their neighbours go
_NOT_WORD = re.compile(r"[^A-Za-z0-9_]")


def register_live_secret(value: str) -> None:
    """Makes `redact` replace this very string wherever it stands. For our own tokens; under 8 characters it is ignored."""
    global _live  # noqa: PLW0603 - one set for the process is the point: no caller can forget to pass it
    if len(value.strip()) < 8:
        return
    with _lock:
        _live = tuple(sorted({*_live, value.strip()}, key=len, reverse=True))


def redact(text: str) -> tuple[str, int]:
    """`text` with each secret replaced, and how many there were. As many "\\n" as before; redacting twice changes nothing."""
    total = 0
    for _ in range(_PASSES):
        text, count = _redact_once(text)
        total += count
        if not count:
            break
    return text, total


def _redact_once(text: str) -> tuple[str, int]:
    found = {*_live_spans(text), *_rule_spans(text), *_key_spans(text), *_assigned_spans(text)}
    spans = sorted(found, key=lambda span: (span[0], -span[1], span[2] == "assigned-secret", span[2]))  # the most specific name wins
    if not spans:
        return text, 0
    pieces: list[str] = []
    position = count = 0
    for start, end, kind in spans:
        if start < position:
            if end > position:  # overlaps the former: what sticks out goes too
                pieces.append("\n" * text.count("\n", position, end))
                position = end
            continue
        pieces += [text[position:start], f"[redacted:{kind}]", "\n" * text.count("\n", start, end)]
        position, count = end, count + 1
    pieces.append(text[position:])
    return "".join(pieces), count


def _positions(text: str, anchor: str) -> Iterator[int]:
    position = text.find(anchor)
    while position >= 0:
        yield position
        position = text.find(anchor, position + 1)


def _live_spans(text: str) -> Iterator[Span]:
    for value in _live:
        for position in _positions(text, value):
            yield position, position + len(value), "live-token"


def _rule_spans(text: str) -> Iterator[Span]:
    for anchor, rule in _ANCHORED:
        position = text.find(anchor)
        while position >= 0:
            span = _apply(rule, text, position)
            if span:
                yield span
            position = text.find(anchor, max(position + 1, span[1] if span else 0))


def _apply(rule: Rule, text: str, position: int) -> Span | None:
    start = position - rule.back
    if start < 0 or (rule.alone and start > 0 and not _NOT_WORD.match(text[start - 1])):
        return None
    match = rule.pattern.match(text, start)
    if not match:
        return None
    group = 1 if rule.pattern.groups else 0
    if rule.random and not looks_random(match[group]):
        return None
    if (rule.accepts and not rule.accepts(match[group])) or _in_marker(text, position):
        return None
    return match.start(group), match.end(group), rule.kind


def _in_marker(text: str, position: int) -> bool:
    """Whether the position is inside a "[redacted:kind]", whose words are no names of anything."""
    before = text[max(0, position - 40) : position]
    return "[redacted:" in before and "]" not in before.rpartition("[redacted:")[2]


def _assigned_spans(text: str) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) != len(text):  # some capitals grow when lowered, and positions would shift
        lower = "".join(c.lower() if c.isascii() else c for c in text)
    for word in ASSIGNMENTS:
        for position in _positions(lower, word):
            span = assigned_secret(text, position + len(word), word)
            if span and not _in_marker(text, position):
                yield *span, "assigned-secret"


def _key_spans(text: str) -> Iterator[Span]:
    """Private key blocks, on many lines or with "\\n" written out. A header without a key behind it is ordinary code and stays."""
    done = 0
    for position in _positions(text, _KEY_BEGIN):
        if position < done:
            continue
        header = _KEY_HEADER.match(text, position)
        if not header:
            continue
        end = _key_end(text, header.end())
        if end:
            done = end
            yield position, end, "private-key"


def _key_end(text: str, start: int) -> int:
    """Where the key that begins at `start` ends, 0 if no key does."""
    window = text[start : start + _KEY_LIMIT]
    following = window.find(_KEY_BEGIN)
    closing = _KEY_END.search(window, 0, following if following >= 0 else len(window))
    if closing:
        body = window[: closing.start()]
        packed = sum(len(run) for run in _BASE64_RUN.findall(body))
        if packed and packed * 2 >= len("".join(body.split())):
            return start + closing.end()
        return 0
    position = window.find("\n") + 1 if window[:12].strip(" \t\\nr\"'+,;").startswith("\n") or "\n" in window[:12] else 0
    first = position
    while line := _BASE64_LINE.match(window, position):
        position = line.end()
        if position >= len(window):
            break
    return start + position - (window[:position].endswith("\n")) if position > first else 0
