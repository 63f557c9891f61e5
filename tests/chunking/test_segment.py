"""The cheapest cuts are the cheapest: against every possible way of cutting, on small files."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.chunking.outline import NEVER
from rag.chunking.segment import Limits, Rows, segment

LIMITS = Limits(small=20, soft=60, hard=90, tokens=40)


def price(rows: Rows, costs: list[float], starts: tuple[int, ...]) -> float:
    """What a way of cutting costs, said anew."""
    total = 0.0
    ends = [*starts[1:], rows.count]
    for position, (start, end) in enumerate(zip(starts, ends, strict=True)):
        size = rows.size(start, rows.trimmed[end])
        total += 0.5
        total += 0.8 * (1 - size / LIMITS.small) if size < LIMITS.small else 0
        total += 3.0 * (size / LIMITS.soft - 1) if size > LIMITS.soft else 0
        inner = [costs[row] for row in range(start + 1, end) if not rows.blank[row]]
        shallow = min(inner, default=float("inf"))
        total += 1.0 if costs[start] - 0.15 > shallow else 0
        if position + 1 < len(starts):
            total += costs[end]
            total += 1.0 if costs[end] - 0.15 > shallow else 0
    return total


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from([0.0, 0.1, 0.2, 0.35, 1.0, 1.3, 2.0])),
        min_size=1,
        max_size=9,
    )
)
def test_no_other_way_of_cutting_is_cheaper(drawn: list[tuple[int, float]]) -> None:
    lines = ["x" * length for length, _ in drawn]
    rows = Rows(lines, [len(line) // 3 for line in lines])
    costs = [cost if line else NEVER for line, (_, cost) in zip(lines, drawn, strict=True)]
    runs = segment(rows, costs, LIMITS, {})
    places = [row for row, line in enumerate(lines) if line]
    if not places:
        assert runs == []
        return
    ways = [
        (places[0], *chosen)
        for count in range(len(places))
        for chosen in combinations(places[1:], count)
        if all(rows.fit(start, rows.trimmed[end], LIMITS) for start, end in zip((places[0], *chosen), (*chosen, rows.count), strict=True))
    ]
    found = tuple(start for start, _ in runs)
    assert found in ways
    assert price(rows, costs, found) == pytest.approx(min(price(rows, costs, way) for way in ways))


def test_a_row_that_does_not_fit_stands_alone() -> None:
    rows = Rows(["short", "x" * 500, "short"], [1, 100, 1])
    assert segment(rows, [0.1, 0.1, 0.1], LIMITS, {}) == [(0, 1), (1, 2), (2, 3)]


def test_blank_rows_neither_begin_nor_end_a_run() -> None:
    rows = Rows(["", "", "a", "", "b", "", ""], [0, 0, 1, 0, 1, 0, 0])
    assert segment(rows, [NEVER, NEVER, 0.1, NEVER, 0.1, NEVER, NEVER], LIMITS, {}) == [(2, 5)]
    assert segment(Rows(["", " "], [0, 0]), [NEVER, NEVER], LIMITS, {}) == []


def test_dear_rows_begin_a_run_only_where_nothing_else_fits() -> None:
    rows = Rows(["x" * 40] * 6, [5] * 6)
    assert segment(rows, [0.0, 5.0, 5.0, 5.0, 5.0, 5.0], LIMITS, {})[0][0] == 0
    runs = segment(rows, [0.0, 5.0, 0.1, 5.0, 0.1, 5.0], LIMITS, {})
    assert runs == [(0, 2), (2, 4), (4, 6)]
