from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.fusion import linear_fusion, reciprocal_rank_fusion

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=12), max_size=4)


def test_it_is_the_sum_of_reciprocal_ranks() -> None:
    assert reciprocal_rank_fusion([[7, 3], [3, 5]], k=60) == [(3, 1 / 62 + 1 / 61), (7, 1 / 61), (5, 1 / 62)]


def test_ties_go_by_row() -> None:
    assert [row for row, _ in reciprocal_rank_fusion([[9, 1], [1, 9]])] == [1, 9]


def test_a_larger_k_lets_agreement_weigh_more_than_a_first_place() -> None:
    apart = [[1, 4, 5, 2], [3, 6, 7, 2]]
    assert reciprocal_rank_fusion(apart, k=60)[0][0] == 2
    assert reciprocal_rank_fusion(apart, k=0)[0][0] == 1


@given(RANKINGS, st.integers(1, 100))
def test_every_row_comes_once_with_its_own_sum_best_first(rankings: list[list[int]], k: int) -> None:
    fused = reciprocal_rank_fusion(rankings, k)
    assert {row for row, _ in fused} == {row for ranking in rankings for row in ranking}
    assert len(fused) == len({row for row, _ in fused})
    for row, score in fused:
        assert score == pytest.approx(sum(1 / (k + ranking.index(row) + 1) for ranking in rankings if row in ranking))
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(st.lists(st.integers(0, 50), unique=True, min_size=1, max_size=12), st.integers(1, 100))
def test_lists_that_agree_keep_their_order(ranking: list[int], k: int) -> None:
    assert [row for row, _ in reciprocal_rank_fusion([ranking, ranking], k)] == ranking


def test_linear_fusion_weighs_two_scores_and_ties_go_by_row() -> None:
    rows, sparse, dense = np.array([7, 3, 5, 1]), np.array([1.0, 0.0, 0.5, 0.5]), np.array([0.0, 1.0, 0.5, 0.5])
    assert linear_fusion(rows, sparse, dense, 0.5) == [(1, 0.5), (3, 0.5), (5, 0.5), (7, 0.5)]
    assert linear_fusion(rows, sparse, dense, 1.0) == [(7, 1.0), (1, 0.5), (5, 0.5), (3, 0.0)]
    assert linear_fusion(rows, sparse, dense, 0.75)[0] == (7, 0.75)
    assert linear_fusion(rows[:0], sparse[:0], dense[:0], 0.5) == []
