"""Where to cut: the cheapest way to divide a document's rows into chunks, by dynamic programming over the rows where one may begin.

Every chunk costs something, so small neighbours are merged; a chunk that is too small or too large costs more; beginning one costs what the
outline says, so definitions stay whole as long as they fit, long functions are cut between statements, and comments stay with what they
describe. What fits is decided by the limits alone and is never traded for anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
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
        self.blank = [not line or line.isspace() for line in lines]
        self.chars = list(accumulate([len(line) + 1 for line in lines], initial=0))
        self.tokens = list(accumulate(tokens, initial=0))
        # trimmed[r]: the end (exclusive) of rows ..r without trailing blank ones
        self.trimmed = list(accumulate([0 if blank else end for end, blank in enumerate(self.blank, 1)], max, initial=0))

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
    # What the inner loop reads lies side by side: by place to end, its characters; by place to begin, its price and what follows costs.
    end_chars = [rows.chars[end] for end in trimmed]
    end_tokens = [rows.tokens[end] for end in trimmed]
    prices = [costs[row] for row in starts]
    small, soft, hard = limits.small, limits.soft, limits.hard
    size_prices = _size_prices(small, soft, hard)
    onward = [inf] * total + [_CHUNK]  # the cheapest way from there on, with the price of a chunk before it
    following = [total] * total
    stop = total  # the first of `trimmed` that is too far away
    for first in range(total - 1, -1, -1):
        row = starts[first]
        start_char = rows.chars[row] + 1
        last_char, last_token, last_row = start_char + limits.hard, rows.tokens[row] + limits.tokens, row + MAX_ROWS
        while stop > first + 1 and (end_chars[stop - 1] > last_char or end_tokens[stop - 1] > last_token or trimmed[stop - 1] > last_row):
            stop -= 1
        own = prices[first] - _SAME_DEPTH
        members, class_end = classes.get(row, (rows.count + 1, 0))
        if members <= rows.count and rows.size(row, rows.trimmed[members]) < limits.small:
            class_end = 0
        shallow = inf
        cheapest, choice = inf, first + 1
        after = first
        # Up to where another begins; the sums are made in one order, so that ties fall the same way however this is written.
        for end_char, begin, price in zip(
            end_chars[first : min(stop, total - 1)], prices[first + 1 : stop + 1], onward[first + 1 : stop + 1], strict=False
        ):
            after += 1
            size = end_char - start_char
            price += size_prices[size] if size < hard else _size_price(size, small, soft)
            if own > shallow:
                price += _MIXED
            price += begin
            if begin - _SAME_DEPTH > shallow:
                price += _MIXED
            if begin < shallow:
                shallow = begin
            if class_end and members < ends[after - 1] < class_end:
                price += _HEADER_WITH_MEMBERS
            if price < cheapest:
                cheapest, choice = price, after
        if stop == total:  # to the end
            price = onward[total] + _size_price(end_chars[-1] - start_char, small, soft)
            if own > shallow:
                price += _MIXED
            if price < cheapest:
                cheapest, choice = price, total
        onward[first], following[first] = cheapest + _CHUNK, choice
    runs, first = [], 0
    while first < total:
        after = following[first]
        runs.append((starts[first], trimmed[after - 1]))
        first = after
    return runs


def _size_price(size: int, small: int, soft: int) -> float:
    """What a chunk of so many characters costs for being too small or too large."""
    if size < small:
        return _TOO_SMALL * (1 - size / small)
    return _TOO_LARGE * (size / soft - 1) if size > soft else 0.0


@lru_cache(maxsize=16)
def _size_prices(small: int, soft: int, hard: int) -> list[float]:
    """`_size_price` of each size below the hard limit."""
    return [_size_price(size, small, soft) for size in range(hard)]


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
