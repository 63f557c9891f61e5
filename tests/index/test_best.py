"""The best of many scores are those of a sort, whatever is not looked at."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag.index.best import Rows, best_of_each, first_of, near_best_of_each, reached


def scores_of(seed: int, count: int, values: int) -> np.ndarray:
    """Some of a few values, so that many tie, below nothing as well."""
    drawn: np.ndarray = np.random.default_rng(seed).integers(-1, values, count) / 8
    return drawn


def laid_out(lengths: list[int]) -> tuple[Rows, Rows]:
    """Where groups of so many begin, and which group each place is of."""
    counts = np.array(lengths, dtype=np.int64)
    return np.cumsum(counts) - counts, np.repeat(np.arange(len(lengths)), counts)


@given(st.integers(0, 1000), st.integers(0, 3_000), st.integers(1, 200), st.integers(0, 60))
def test_as_many_reach_it_as_are_sought(seed: int, count: int, values: int, limit: int) -> None:
    scores = scores_of(seed, count, values)
    least = reached(scores, limit)
    assert least == -np.inf or (scores >= least).sum() >= limit > 0
    assert first_of(scores, limit).tolist() == np.argsort(-scores, kind="stable")[:limit].tolist()


def test_it_is_hardly_below_the_least_of_the_best() -> None:
    scores = np.random.default_rng(0).random(50_000).astype(np.float32)
    assert 100 <= (scores >= reached(scores, 100)).sum() <= 150


@given(st.integers(0, 1000), st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 5), st.integers(1, 40))
def test_the_best_of_each_group_are_those_of_a_sort(seed: int, lengths: list[int], most: int, values: int) -> None:
    scores = scores_of(seed, sum(lengths), values)
    starts, owner = laid_out(lengths)
    found = best_of_each(scores, near_best_of_each(scores, starts, owner, most), owner, len(lengths), most)
    for group, start, length in zip(found.tolist(), starts.tolist(), lengths, strict=True):
        best = [start + place for place in np.argsort(-scores[start : start + length], kind="stable")[:most].tolist()]
        assert group == best + [-1] * (most - len(best))


@given(st.integers(0, 1000), st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 4))
def test_what_may_be_among_the_best_is_looked_at(seed: int, lengths: list[int], most: int) -> None:
    random = np.random.default_rng(seed)
    real = random.random(sum(lengths))
    below, above = random.random((2, len(real))) * 0.2
    starts, owner = laid_out(lengths)
    near = set(near_best_of_each(real - below, starts, owner, most, real + above).tolist())
    for start, length in zip(starts.tolist(), lengths, strict=True):
        assert {start + place for place in np.argsort(-real[start : start + length])[:most].tolist()} <= near
