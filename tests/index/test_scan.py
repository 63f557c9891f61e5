"""The scan brings what a store brings, and the similarities with it, whichever way they are compared."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag.errors import RetrievalError
from rag.index.cosines import Cosines, cosines_at, cosines_of, nearest, sample_of
from rag.index.rough import Rough
from rag.index.scan import Room, Scan, kept_bytes
from rag.protocols import Vector

DIMENSION = 24
COUNT = 5_000


def unit_rows(count: int, seed: int = 0) -> Vector:
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)))


def unit(rows: NDArray[np.float64]) -> Vector:
    found: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def spread_out(question: Vector, seed: int) -> Vector:
    return unit_rows(COUNT, seed)


def around_the_question(question: Vector, seed: int) -> Vector:
    """So near to each other that eight bits tell few of them apart."""
    return unit(question + 0.02 * unit_rows(COUNT, seed).astype(np.float64))


def a_few_again_and_again(question: Vector, seed: int) -> Vector:
    return unit_rows(30, seed)[np.random.default_rng(seed).integers(0, 30, COUNT)]


def along_the_axes(question: Vector, seed: int) -> Vector:
    """One number of each is large, so that all others are rounded to nothing, and they are what differs."""
    rows = 1e-3 * unit_rows(COUNT, seed).astype(np.float64)
    rows[:, int(np.argmin(np.abs(question)))] = 1.0
    return unit(rows)


def of_tiny_numbers(question: Vector, seed: int) -> Vector:
    return unit_rows(COUNT, seed) * np.float32(1e-38)


KINDS = [spread_out, around_the_question, a_few_again_and_again, along_the_axes, of_tiny_numbers]


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


def prepared(vectors: Vector) -> Scan:
    scan = Scan(vectors, Room(1 << 30), least=1)
    scan.prepare()
    return scan


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 70), st.integers(0, 1000), st.booleans())
def test_none_is_nearer_than_the_nearest(count: int, limit: int, seed: int, filtered: bool) -> None:
    vectors, question = unit_rows(count, seed), unit_rows(1, seed + 1)[0]
    rows = np.random.default_rng(seed).random(count) < 0.5 if filtered else None
    check(nearest(cosines_of(question, vectors), limit, rows), question, vectors, limit, rows)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(0, 1000), st.sampled_from([None, 0.5, 0.02]))
@example(around_the_question, 1, 0, None)
@example(along_the_axes, 10, 3, 0.5)
def test_rough_vectors_change_nothing_that_is_found(kind: type, limit: int, seed: int, share: float | None) -> None:
    question = unit_rows(1, seed + 1)[0]
    vectors = kind(question, seed)
    rows = None if share is None else np.random.default_rng(seed).random(COUNT) < share
    exact = cosines_of(question, vectors)
    found, known = prepared(vectors).nearest(question, limit, rows)
    assert found == nearest(exact, limit, rows)
    sample = sample_of(COUNT)
    assert known.about(sample).tolist() == exact[sample].tolist()
    chosen = np.array([row for row, _ in found])
    assert known.about(chosen).tolist() == exact[chosen].tolist()
    lengths = np.random.default_rng(seed + 2).integers(1, 40, 60)
    some = np.sort(np.random.default_rng(seed + 3).permutation(COUNT)[: lengths.sum()])
    starts, owner = np.cumsum(lengths) - lengths, np.repeat(np.arange(60), lengths)
    about, near = known.best_of_each(some, starts, owner, 3)
    for file, start in enumerate(starts.tolist()):
        here = slice(start, start + int(lengths[file]))
        places = [place for place in near.tolist() if here.start <= place < here.stop]
        assert sorted(exact[some[here]], reverse=True)[:3] == sorted(about[places], reverse=True)[:3]
        assert about[places].tolist() == exact[some[places]].tolist()
        assert sorted(about[here], reverse=True)[:3] == sorted(exact[some[here]], reverse=True)[:3]
    assert known.at(some).tolist() == exact[some].tolist()


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(KINDS), st.integers(0, 1000), st.sampled_from([1.0, 1e-3, 1e-39, 0.0]))
def test_no_product_is_further_off_than_the_bound(kind: type, seed: int, length: float) -> None:
    question = unit_rows(1, seed + 1)[0]
    vectors = kind(question, seed)
    asked = question * np.float32(length)
    products, bound = Rough(vectors).products(asked)
    errors = bound.of(np.arange(COUNT))
    exact = vectors.astype(np.float64) @ asked.astype(np.float64)
    assert (np.abs(products - exact) <= errors).all()
    assert errors.max() <= bound.most
    assert (np.abs(products.astype(np.float64) - cosines_of(asked, vectors)) <= errors).all()


def test_of_vectors_that_lie_apart_few_are_compared_whole() -> None:
    vectors, question = unit_rows(COUNT), unit_rows(1, 7)[0]
    found, known = prepared(vectors).nearest(question, 10)
    assert found == nearest(cosines_of(question, vectors), 10)
    assert exactly(known, question, vectors).mean() < 0.4  # with a sample of a fifth


def exactly(known: Cosines, question: Vector, vectors: Vector) -> NDArray[np.bool_]:
    """Which of them are known to the last bit without reading more."""
    known_so_far = known.about(np.arange(len(vectors)))
    same: NDArray[np.bool_] = known_so_far == cosines_of(question, vectors)
    return same


def test_what_is_asked_for_is_exact_whatever_was_known() -> None:
    vectors, question = unit_rows(COUNT), unit_rows(1, 7)[0]
    rows, exact = np.array([5, 6, 7, 4_000, 17]), cosines_of(question, vectors)
    for known in (Cosines(question, vectors), Cosines(question, vectors, exact.copy()), prepared(vectors).nearest(question, 3)[1]):
        assert known.at(rows).tolist() == known.about(rows).tolist() == exact[rows].tolist()
        assert known.about(np.arange(COUNT)) == pytest.approx(exact, abs=0.02)
        none = np.zeros(0, dtype=np.int64)
        assert [part.tolist() for part in known.best_of_each(none, none, none, 3)] == [[], []]


def test_where_rough_vectors_tell_nothing_apart_all_are_compared() -> None:
    vectors, question = np.tile(unit_rows(1), (COUNT, 1)), unit_rows(1, 7)[0]
    found, known = prepared(vectors).nearest(question, 10)
    assert [row for row, _ in found] == list(range(10))
    assert exactly(known, question, vectors).all()


def test_rough_vectors_are_made_once_an_index_is_asked_again() -> None:
    vectors, question = unit_rows(COUNT), unit_rows(1, 7)[0]
    scan = Scan(vectors, Room(1 << 30), least=1)
    first, known = scan.nearest(question, 10)
    assert exactly(known, question, vectors).all()
    assert asked_until_rough(scan, question, vectors) == first


def asked_until_rough(scan: Scan, question: Vector, vectors: Vector) -> list[tuple[int, float]]:
    """What is found by then, which is always the same."""
    found, known = scan.nearest(question, 10)
    deadline = time.monotonic() + 60
    while exactly(known, question, vectors).all() and time.monotonic() < deadline:
        again, known = scan.nearest(question, 10)
        assert again == found
    assert not exactly(known, question, vectors).all()
    return found


def test_few_vectors_have_no_rough_ones() -> None:
    vectors, question = unit_rows(50), unit_rows(1, 7)[0]
    scan = Scan(vectors, Room(1 << 30))
    scan.prepare()
    assert all(exactly(scan.nearest(question, 2)[1], question, vectors).all() for _ in range(3))


def test_rough_vectors_of_all_indexes_take_no_more_than_there_is_room_for() -> None:
    vectors, question = unit_rows(COUNT), unit_rows(1, 7)[0]
    room = Room(kept_bytes(vectors.shape))
    one, other = (Scan(vectors, room, least=1) for _ in range(2))
    for scan in (one, other):
        scan.prepare()
    assert not exactly(one.nearest(question, 10)[1], question, vectors).all()
    assert exactly(other.nearest(question, 10)[1], question, vectors).all()
    del one, scan
    asked_until_rough(other, question, vectors)


def test_vectors_that_are_none_have_no_rough_ones(caplog: pytest.LogCaptureFixture) -> None:
    vectors = unit_rows(COUNT)
    vectors[7] = np.nan
    with pytest.raises(ArithmeticError, match="finite"):
        Rough(vectors)
    scan = prepared(vectors)
    assert "cannot be made" in caplog.text
    assert len(scan.nearest(unit_rows(1, 7)[0], COUNT)[0]) == COUNT


def test_many_vectors_are_compared_by_several_threads_with_the_same_result() -> None:
    vectors, question = unit_rows(10_001), unit_rows(1, 7)[0]
    cosines = cosines_of(question, vectors)
    assert cosines == pytest.approx(vectors.astype(np.float64) @ question.astype(np.float64), abs=1e-6)
    check(nearest(cosines, 100), question, vectors, 100, None)


@given(st.lists(st.integers(0, 299), unique=True, max_size=120), st.booleans())
def test_chosen_rows_have_the_very_similarities_that_all_rows_have(rows: list[int], together: bool) -> None:
    vectors, question = unit_rows(300), unit_rows(1, 7)[0]
    chosen = np.array(sorted({*rows, *range(50, 90)} if together else rows), dtype=np.int64)
    assert cosines_at(chosen, question, vectors).tolist() == cosines_of(question, vectors)[chosen].tolist()


def test_twins_tie_wherever_they_lie_and_come_by_row() -> None:
    vectors, question = unit_rows(9_000), unit_rows(1, 7)[0]
    twins = [3, 4_095, 4_096, 8_999]
    vectors[twins] = question
    for found, cosines in (Scan(vectors).nearest(question, 3), prepared(vectors).nearest(question, 3)):
        assert len(set(cosines.at(np.array(twins)).tolist())) == 1
        assert [row for row, _ in found] == twins[:3]


@pytest.mark.parametrize("compare", [cosines_of, lambda question, vectors: prepared(vectors).nearest(question, 3)])
def test_a_question_of_another_model_is_an_error(compare: object) -> None:
    assert callable(compare)
    with pytest.raises(RetrievalError, match=r"shape \(3,\)"):
        compare(np.ones(3, dtype=np.float32), unit_rows(5))
    with pytest.raises(RetrievalError, match=r"not finite"):
        compare(np.full(DIMENSION, np.nan, dtype=np.float32), unit_rows(5))
