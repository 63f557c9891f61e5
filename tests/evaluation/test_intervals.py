"""Intervals are of repositories, the same each time, and wide where repositories differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.evaluation.intervals import bootstrap, intervals
from rag.evaluation.metrics import Scores


def _scores(*values: float) -> list[Scores]:
    return [Scores(value, value, value / 2, value) for value in values]


def test_one_repository_says_nothing_of_another() -> None:
    assert intervals(_scores(0.1, 0.9), ["a/a", "a/a"]) is None
    assert intervals([], []) is None


def test_repositories_that_agree_leave_no_doubt_however_their_questions_differ() -> None:
    found = intervals(_scores(0.0, 1.0, 1.0, 0.0), ["a/a", "a/a", "b/b", "b/b"])
    assert found is not None
    assert (found["ndcg"].low, found["ndcg"].high) == (0.5, 0.5)
    assert (found["precision"].low, found["precision"].high) == (0.25, 0.25)


def test_repositories_that_differ_make_it_wide_and_more_of_them_narrow() -> None:
    few = intervals(_scores(0.0, 1.0) * 2, list("abcd"))
    many = intervals(_scores(0.0, 1.0) * 50, [f"r{number}" for number in range(100)])
    assert few is not None
    assert many is not None
    assert (few["ndcg"].low, few["ndcg"].high) == (0.0, 1.0)
    assert 0.38 < many["ndcg"].low < 0.45 < 0.55 < many["ndcg"].high < 0.62  # 0.5 ± 1.96 · 0.05


def test_agrees_with_the_textbook_where_clusters_are_equal_in_size() -> None:
    values = np.random.default_rng(7).normal(size=(400, 1))
    low, high = bootstrap(values, [f"r{number // 4}" for number in range(400)])
    means = values.reshape(100, 4).mean(axis=1)
    spread = 1.96 * means.std(ddof=0) / np.sqrt(100)
    assert low[0] == pytest.approx(means.mean() - spread, abs=0.15 * spread)
    assert high[0] == pytest.approx(means.mean() + spread, abs=0.15 * spread)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abcdef")), min_size=1, max_size=40))
def test_the_same_again_within_the_range_of_the_values_and_in_any_order_of_names(rows: list[tuple[float, str]]) -> None:
    values = np.array([[value] for value, _ in rows])
    clusters = [name for _, name in rows]
    low, high = bootstrap(values, clusters)
    assert values.min() - 1e-9 <= low[0] <= high[0] <= values.max() + 1e-9
    again = bootstrap(values, clusters)
    assert (again[0][0], again[1][0]) == (low[0], high[0])
