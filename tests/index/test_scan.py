"""The scan brings what a store brings, and every similarity with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag.errors import RetrievalError
from rag.index.scan import cosines_of, nearest
from rag.protocols import Vector

DIMENSION = 24


def unit_rows(count: int, seed: int = 0) -> Vector:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    unit: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def check(found: list[tuple[int, float]], question: Vector, vectors: Vector, limit: int, rows: NDArray[np.bool_] | None) -> None:
    """That none of the other rows is nearer than the last of `found`, as far as float32 tells."""
    exact = vectors.astype(np.float64) @ question.astype(np.float64)
    allowed = {row for row in range(len(vectors)) if rows is None or rows[row]}
    chosen = [row for row, _ in found]
    assert len(set(chosen)) == len(chosen) == min(limit, len(allowed))
    assert set(chosen) <= allowed
    assert [score for _, score in found] == pytest.approx(exact[chosen], abs=1e-6)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    assert all(exact[row] <= found[-1][1] + 1e-6 for row in allowed - set(chosen) if found)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 70), st.integers(0, 1000), st.booleans())
def test_none_is_nearer_than_the_nearest(count: int, limit: int, seed: int, filtered: bool) -> None:
    vectors, question = unit_rows(count, seed), unit_rows(1, seed + 1)[0]
    rows = np.random.default_rng(seed).random(count) < 0.5 if filtered else None
    check(nearest(cosines_of(question, vectors), limit, rows), question, vectors, limit, rows)


def test_many_vectors_are_compared_by_several_threads_with_the_same_result() -> None:
    vectors, question = unit_rows(10_001), unit_rows(1, 7)[0]
    cosines = cosines_of(question, vectors)
    assert cosines == pytest.approx(vectors.astype(np.float64) @ question.astype(np.float64), abs=1e-6)
    check(nearest(cosines, 100), question, vectors, 100, None)


def test_twins_tie_wherever_they_lie_and_come_by_row() -> None:
    vectors, question = unit_rows(9_000), unit_rows(1, 7)[0]
    twins = [3, 4_095, 4_096, 8_999]
    vectors[twins] = question
    cosines = cosines_of(question, vectors)
    assert len(set(cosines[twins].tolist())) == 1
    assert [row for row, _ in nearest(cosines, 3)] == twins[:3]


def test_a_question_of_another_model_is_an_error() -> None:
    with pytest.raises(RetrievalError, match=r"shape \(3,\)"):
        cosines_of(np.ones(3, dtype=np.float32), unit_rows(5))
    with pytest.raises(RetrievalError, match=r"not finite"):
        cosines_of(np.full(DIMENSION, np.nan, dtype=np.float32), unit_rows(5))
