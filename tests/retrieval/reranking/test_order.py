from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.lists import Lists
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered, heads, reordered
from rag.types import Relevance

rows = st.integers(0, 12)
marks = st.one_of(st.integers(0, 3).map(float), st.floats(-1e6, 1e6))


def lists_of(leading: int, others: int) -> Lists:
    return Lists(
        [Ranked(row, 1 - row / 100) for row in range(leading)],
        [Ranked(50 + row, 0.5 - row / 100) for row in range(others)],
        "prose",
        0.7,
    )


def order_of(group: object) -> list[int]:
    assert isinstance(group, list | tuple)
    return [result.row for result in group]


@given(rows, rows, st.integers(1, 30), st.lists(marks, min_size=30, max_size=30), st.floats(0, 1))
def test_only_what_was_scored_moves_and_nothing_is_lost(leading: int, others: int, most: int, scores: list[float], weight: float) -> None:
    lists = lists_of(leading, others)
    shown = heads(lists, most)
    assert len(shown) == min(most, leading + others) == len(set(shown))
    found = reordered(lists, {row: Relevance(score) for row, score in zip(shown, scores, strict=False)}, weight)
    assert (found.lists.leads, found.lists.confidence) == ("prose", 0.7)
    for before, after in ((lists.leading, found.lists.leading), (lists.others, found.lists.others)):
        assert sorted(order_of(after)) == order_of(before)
        seen = [row for row in order_of(after) if row in found.relevance]
        assert order_of(after)[len(seen) :] == [row for row in order_of(before) if row not in found.relevance]
        assert [result.score for result in after] == sorted((result.score for result in after), reverse=True)
        assert all(0 < result.score <= 1 for result in after)
    assert set(found.before) == {result.row for result in (*lists.leading, *lists.others)}


@given(st.lists(marks, min_size=1, max_size=12))
def test_the_weight_says_whose_order_it_is(scores: list[float]) -> None:
    lists = lists_of(len(scores), 0)
    relevance = {row: Relevance(score) for row, score in enumerate(scores)}
    assert order_of(reordered(lists, relevance, 0.0).lists.leading) == list(range(len(scores)))
    assert order_of(reordered(lists, relevance, 1.0).lists.leading) == sorted(range(len(scores)), key=lambda row: (-scores[row], row))


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.floats(0, 1))
def test_the_scale_of_the_scores_does_not_matter(scores: list[int], weight: float) -> None:
    lists = lists_of(len(scores), 0)
    one = reordered(lists, {row: Relevance(float(score)) for row, score in enumerate(scores)}, weight)
    other = reordered(lists, {row: Relevance(score**3 * 1e-3 + 7) for row, score in enumerate(scores)}, weight)
    assert one.lists == other.lists


def test_equal_marks_leave_the_order() -> None:
    lists = lists_of(5, 0)
    assert order_of(reordered(lists, {row: Relevance(0.0) for row in range(4)}, 1.0).lists.leading) == [0, 1, 2, 3, 4]


def test_a_blend_lies_between_both_orders() -> None:
    lists = lists_of(4, 0)
    relevance = {row: Relevance(float(score)) for row, score in enumerate((1, 2, 3, 9))}  # the last is best
    assert order_of(reordered(lists, relevance, 1.0).lists.leading) == [3, 2, 1, 0]
    assert order_of(reordered(lists, relevance, 0.3).lists.leading) == [0, 1, 2, 3]


def test_what_is_below_the_threshold_is_left_out_and_remembered() -> None:
    lists = lists_of(3, 2)
    relevance = {row: Relevance(1.0, relevant=row != 1) for row in (0, 1, 50)}
    found = reordered(lists, relevance, 0.5)
    assert (order_of(found.lists.leading), order_of(found.lists.others)) == ([0, 2], [50, 51])
    assert found.before[1].score == lists.leading[1].score


def test_without_a_reranker_nothing_changes() -> None:
    lists = lists_of(3, 2)
    assert Reordered.unchanged(lists).lists is lists
