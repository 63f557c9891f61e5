"""Where to cut: the cheapest way to divide a document's rows into chunks, by dynamic programming over the rows where one may begin.

Every chunk costs something, so small neighbours are merged; a chunk that is too small or too large costs more; beginning one costs what the
outline says, so definitions stay whole as long as they fit, long functions are cut between statements, and comments stay with what they
describe. What fits is decided by the limits alone and is never traded for anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from rag.chunking.outline import ATTACHED

_CHUNK = 0.5
_TOO_SMALL = 0.8
_TOO_LARGE = 3.0  # times the share by which it exceeds the soft limit
_MIXED = 1.0  # the end of one thing with the beginning of the next
_SAME_DEPTH = 0.15
_HEADER_WITH_MEMBERS = 0.7
MAX_ROWS = 120  # bounds the work on files of very short lines
_MANY, _APART = 10_000, 64  # with more places to begin than that, so many characters lie between two that are weighed


@dataclass(frozen=True, slots=True)
class Limits:
    """`small`, `soft`, `hard`: characters. `tokens`: of the lines alone, without what precedes them in the encoded text."""

    small: int
    soft: int
    hard: int
    tokens: int


class Rows:
    """Sizes of runs of rows, by prefix sums."""

    def __init__(self, lines: Sequence[str], tokens: Sequence[int]) -> None:
        self.count = len(lines)
        self.blank = [not line.strip() for line in lines]
        self.chars = [0]
        self.tokens = [0]
        self.trimmed = [0]  # trimmed[r]: the end (exclusive) of rows ..r without trailing blank ones
        for row, line in enumerate(lines):
            self.chars.append(self.chars[-1] + len(line) + 1)
            self.tokens.append(self.tokens[-1] + tokens[row])
            self.trimmed.append(self.trimmed[-1] if self.blank[row] else row + 1)

    def size(self, start: int, end: int) -> int:
        """Characters of rows start..end (exclusive) joined by line ends."""
        return self.chars[end] - self.chars[start] - 1

    def fit(self, start: int, end: int, limits: Limits) -> bool:
        tokens = self.tokens[end] - self.tokens[start]
        return self.size(start, end) <= limits.hard and tokens <= limits.tokens and end - start <= MAX_ROWS


def segment(rows: Rows, costs: Sequence[float], limits: Limits, classes: Mapping[int, tuple[int, int]]) -> list[tuple[int, int]]:
    """Divides the rows into runs (start, end exclusive) that begin and end with a row that is not blank, in order.

    Together they hold every row that is not blank. Each fits the limits, but for a single row that does not fit alone.
    `classes`: first row of a class -> (row of its first method, its end): its header does not take in methods unless it is tiny.
    """
    starts = _starts(rows, costs, limits)
    if not starts:
        return []
    total = len(starts)
    ends = [*starts[1:], rows.count]
    trimmed = [rows.trimmed[end] for end in ends]
    chars, tokens = rows.chars, rows.tokens
    prices = [costs[row] for row in starts]
    best = [inf] * total + [0.0]
    following = [total] * total
    for first in range(total - 1, -1, -1):
        row = starts[first]
        own = prices[first] - _SAME_DEPTH
        members, class_end = classes.get(row, (rows.count + 1, 0))
        if members <= rows.count and rows.size(row, rows.trimmed[members]) < limits.small:
            class_end = 0
        last_char, last_token = chars[row] + limits.hard + 1, tokens[row] + limits.tokens
        shallow = inf
        cheapest, choice = inf, first + 1
        for after in range(first + 1, total + 1):
            end = trimmed[after - 1]
            if (chars[end] > last_char or tokens[end] > last_token or end - row > MAX_ROWS) and after > first + 1:
                break
            size = chars[end] - chars[row] - 1
            price = best[after] + _CHUNK
            if size < limits.small:
                price += _TOO_SMALL * (1 - size / limits.small)
            elif size > limits.soft:
                price += _TOO_LARGE * (size / limits.soft - 1)
            if own > shallow:
                price += _MIXED
            if after < total:
                begin = prices[after]
                price += begin
                if begin - _SAME_DEPTH > shallow:
                    price += _MIXED
                if begin < shallow:
                    shallow = begin
                if members < ends[after - 1] < class_end:
                    price += _HEADER_WITH_MEMBERS
            if price < cheapest:
                cheapest, choice = price, after
        best[first], following[first] = cheapest, choice
    runs, first = [], 0
    while first < total:
        after = following[first]
        runs.append((starts[first], trimmed[after - 1]))
        first = after
    return runs


def _starts(rows: Rows, costs: Sequence[float], limits: Limits) -> list[int]:
    """Rows where a chunk may begin: the cheap ones, and every one of a stretch between two cheap ones that does not fit a chunk."""
    begin = next((row for row in range(rows.count) if not rows.blank[row]), None)
    if begin is None:
        return []
    cheap = [begin, *(row for row in range(begin + 1, rows.count) if costs[row] < ATTACHED and not rows.blank[row])]
    starts: list[int] = []
    for row, after in zip(cheap, [*cheap[1:], rows.count], strict=True):
        starts.append(row)
        if not rows.fit(row, rows.trimmed[after], limits):
            starts.extend(inner for inner in range(row + 1, after) if not rows.blank[inner])
    return starts if len(starts) <= _MANY else _thinned(starts, rows, limits)


def _thinned(starts: list[int], rows: Rows, limits: Limits) -> list[int]:
    """Fewer places to begin, in a file of tens of thousands of lines: none nearer to the last than a few dozen characters."""
    kept = starts[:1]
    for row, after in zip(starts[1:], [*starts[2:], rows.count], strict=True):
        if rows.chars[row] - rows.chars[kept[-1]] >= _APART or not rows.fit(kept[-1], rows.trimmed[after], limits):
            kept.append(row)
    return kept
