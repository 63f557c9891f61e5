"""Products of small integers are exact, also where a processor would cut them off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.index.integer_product import LARGEST, LARGEST_ASKED, IntegerProduct


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 70), st.integers(1, 40), st.integers(1, 3), st.integers(0, 1000))
def test_it_is_the_product(size: int, count: int, asked: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(-LARGEST, LARGEST + 1, (size, count)).astype(np.int8)
    questions = random.integers(-LARGEST_ASKED, LARGEST_ASKED + 1, (asked, size)).astype(np.int8)
    assert np.array_equal(IntegerProduct(codes)(questions), questions.astype(np.int32) @ codes.astype(np.int32))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_numbers_are_not_cut_off(sign: int) -> None:
    codes = np.full((384, 100), sign * LARGEST, dtype=np.int8)
    questions = np.full((2, 384), LARGEST_ASKED, dtype=np.int8)
    assert (IntegerProduct(codes)(questions) == sign * LARGEST * LARGEST_ASKED * 384).all()
