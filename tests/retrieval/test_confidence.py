from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.file_rows import Files
from rag.index.sparse import SparseIndex
from rag.retrieval.confidence import (
    REFUSE_BELOW,
    WARN_BELOW,
    calibrated,
    comparable,
    coverage,
    coverage_by_file,
    known_share,
    raw_confidence,
)
from rag.retrieval.importance import holders_of
from rag.retrieval.matching import Asked

CORPUS = [["lock", "door"], ["lock"], ["key"], ["door", "key"]]
INDEX = SparseIndex.from_terms(CORPUS)
HOLDERS = holders_of(["lock", "key", "unseen"], INDEX)


def asked(*terms: str) -> Asked:
    return Asked(terms, lambda term: 3.0 if term == "lock" else 1.0)


def test_coverage_is_of_one_chunk_or_of_one_file() -> None:
    question = asked("lock", "key")
    assert coverage(question, HOLDERS, np.array([0, 1, 2, 3])) == pytest.approx(np.array([3, 3, 1, 1]) / 4)
    assert coverage(question, HOLDERS, np.zeros(0, dtype=np.int64)).tolist() == []
    files = Files.of(np.array([0, 1, 1, 2], dtype=np.int32), 3, np.zeros(4, np.bool_))
    assert coverage_by_file(question, HOLDERS, files) == 1
    assert coverage_by_file(asked("unseen"), HOLDERS, files) == 0
    assert coverage_by_file(asked(), HOLDERS, files) == 0


def test_words_of_talk_that_nothing_holds_count_a_quarter() -> None:
    files = Files.of(np.array([0, 1, 1, 2], dtype=np.int32), 3, np.zeros(4, np.bool_))
    question = asked("lock", "unseen")
    assert coverage_by_file(question, HOLDERS, files) == pytest.approx(3 / 4)
    assert coverage_by_file(question, HOLDERS, files, lambda word: word == "unseen") == pytest.approx(3 / 3.25)
    assert coverage_by_file(question, HOLDERS, files, lambda word: word == "lock") == pytest.approx(3 / 4)  # it is held
    assert coverage_by_file(asked("unseen"), HOLDERS, files, lambda word: True) == 0


def test_identifiers_that_occur() -> None:
    assert known_share(("lock", "unseen"), INDEX) == 0.5
    assert known_share((), INDEX) == 0.7
    assert known_share(("unseen",), INDEX) == 0


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 4), st.integers(0, 10_000_000))
def test_it_stays_between_nothing_and_one_and_grows_with_all_it_rests_on(
    similarity: float, covered: float, known: float, fit: float, chunks: int
) -> None:
    now = calibrated(raw_confidence(similarity, covered, known, fit, chunks))
    assert 0 <= now <= 1
    assert now <= calibrated(raw_confidence(similarity + 0.1, covered, known, fit, chunks))
    assert now <= calibrated(raw_confidence(similarity, covered + 0.1, known, fit, chunks))
    assert now <= calibrated(raw_confidence(similarity, covered, known + 0.1, fit, chunks))
    assert now <= calibrated(raw_confidence(similarity, covered, known, fit + 0.1, chunks))
    assert now <= calibrated(raw_confidence(similarity, covered, known, fit, chunks, 0.5))
    # The best of more chunks is as similar by chance.
    assert now >= calibrated(raw_confidence(similarity, covered, known, fit, 10 * chunks))
    assert 0 < REFUSE_BELOW < WARN_BELOW < 1


def test_no_number_is_too_far_out_for_it() -> None:
    assert calibrated(-1e9) == pytest.approx(0)
    assert calibrated(1e9) == 1


def test_cosines_of_a_back_end_are_put_on_one_scale_in_their_order() -> None:
    assert comparable(0.42, "onnx-int8") == 0.42
    cosines = [-1.0, -0.2, 0.0, 0.3, 0.9, 1.0]
    scaled = [comparable(cosine, "static") for cosine in cosines]
    assert scaled == sorted(scaled)
    assert max(scaled) <= 1
    assert len(set(scaled)) == len(cosines)
