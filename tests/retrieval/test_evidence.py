"""Scores of files from those of their chunks, without a loop over either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.best import first_of
from rag.index.cosines import Cosines, cosines_of, sample_of
from rag.index.file_rows import Files
from rag.protocols import Vector
from rag.retrieval.evidence import Evidence, Floats, gather
from rag.retrieval.similarity import Similarity

SCORES = st.lists(st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=7), min_size=1, max_size=6)


def evidence_of(files: list[list[float]]) -> tuple[Evidence, Floats]:
    """Of files with so many chunks, and their chunks' scores in one array."""
    lengths = np.array([len(scores) for scores in files])
    scores = np.array([score for of_file in files for score in of_file])
    owner = np.repeat(np.arange(len(files)), lengths)
    return Evidence(np.arange(len(files)), np.arange(len(scores)), np.cumsum(lengths) - lengths, owner, scores, None), scores


@given(SCORES)
def test_a_file_scores_half_its_best_and_half_the_mean_of_its_best_three(files: list[list[float]]) -> None:
    evidence, scores = evidence_of(files)
    means = [0.5 * max(one) + 0.5 * float(np.mean(sorted(one, reverse=True)[:3])) for one in files]
    assert replace(evidence, dense=scores).meaning == pytest.approx(np.array(means))
    assert evidence.meaning is None
    assert evidence.words.tolist() == [max(one) for one in files]
    assert evidence.sums == pytest.approx(np.array([sum(one) for one in files]))
    assert evidence.counts.tolist() == [len(one) for one in files]


@given(SCORES, st.integers(1, 4))
def test_the_first_of_each_file_are_those_of_a_stable_sort(files: list[list[float]], most: int) -> None:
    evidence, scores = evidence_of(files)
    found = evidence.first_of_each(scores, most).tolist()
    for place, of_file in enumerate(files):
        start = int(evidence.starts[place])
        ordered = sorted(range(len(of_file)), key=lambda position: -of_file[position])
        wanted = [start + position for position in ordered[:most]]
        assert found[place] == wanted + [-1] * (most - len(wanted))


@given(SCORES, st.integers(0, 6), st.booleans())
def test_half_of_the_files_say_what_they_say_alone(files: list[list[float]], count: int, by_meaning: bool) -> None:
    evidence, scores = evidence_of(files)
    evidence = replace(evidence, dense=scores[::-1].copy() if by_meaning else None)
    count = min(count, len(files))
    of_files = slice(0, count), slice(count, None)
    middle = sum(len(one) for one in files[:count])
    of_rows = slice(0, middle), slice(middle, None)
    for half, its_files, its_rows in zip(evidence.halves(count), of_files, of_rows, strict=True):
        alone = evidence_of(files[its_files])[0] if files[its_files] else None
        assert half.files.tolist() == evidence.files[its_files].tolist()
        assert half.rows.tolist() == evidence.rows[its_rows].tolist()
        if alone is None:
            continue
        alone = replace(alone, dense=None if evidence.dense is None else evidence.dense[its_rows])
        for name in ("starts", "owner", "counts", "sparse", "text", "words", "nearest", "best_text"):
            assert getattr(half, name).tolist() == getattr(alone, name).tolist()
        assert half.sums == pytest.approx(alone.sums)
        assert (half.meaning is None) == (alone.meaning is None) == (not by_meaning)
        if half.meaning is not None:
            assert half.meaning == pytest.approx(alone.meaning)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=900), st.integers(0, 20))
def test_the_first_are_those_of_a_stable_sort(values: list[float], limit: int) -> None:
    scores = np.array(values)
    assert first_of(scores, limit).tolist() == np.argsort(-scores, kind="stable")[:limit].tolist()


def unit_rows(count: int) -> Vector:
    rows = np.random.default_rng(count).standard_normal((count, 8))
    unit: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.mark.parametrize("allowed", [None, np.array([True, False, True, False, False, True, True])])
def test_similarities_are_the_same_whether_they_are_known_or_computed_when_they_are_asked_for(allowed: np.ndarray | None) -> None:
    vectors, question = unit_rows(7), unit_rows(3)[0]
    known = cosines_of(question, vectors)
    files = Files.of(np.array([0, 0, 0, 1, 1, 2, 2], dtype=np.int32), 3, np.zeros(7, np.bool_))
    sparse = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.2, 0.1])
    nothing = np.zeros(0, np.int64)
    one, other = (
        gather(
            files,
            files.best(sparse),
            sparse,
            allowed,
            [np.array([1], dtype=np.int32)],
            (nothing, nothing),
            Similarity(cosines, 0.1, float(known.max())),
        )
        for cosines in (Cosines(question, vectors, known.copy()), Cosines(question, vectors))
    )
    assert one.dense is not None
    assert other.dense is not None
    assert one.dense.tolist() == other.dense.tolist()
    rows = [row for row in range(7) if allowed is None or allowed[row]]
    assert one.rows.tolist() == rows  # file 1 was brought by meaning alone
    assert one.files.tolist() == ([0, 1, 2] if allowed is None else [0, 2])
    assert [int(one.files[place]) for place in one.owner] == [int(files.numbers[row]) for row in rows]


def test_code_comes_before_prose() -> None:
    numbers = np.repeat(np.arange(4), 2).astype(np.int32)
    prose = np.array([True, False, True, False])
    files = Files.of(numbers, 4, prose[numbers])
    sparse = np.array([0.5, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0, 0.0])
    of_prose = np.array([2])
    gathered = gather(files, files.best(sparse), sparse, None, [], (np.zeros(0, np.int64), of_prose), None)
    assert gathered.files.tolist() == [1, 3, 0, 2]  # the last for nothing it holds
    assert gathered.rows.tolist() == [2, 3, 6, 7, 0, 1, 4, 5]
    code, text = gathered.halves(2)
    assert (code.files.tolist(), text.files.tolist()) == ([1, 3], [0, 2])
    assert text.words.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("known", [True, False])
def test_an_unrelated_chunk_has_the_median_of_a_sample(known: bool) -> None:
    vectors, question = unit_rows(5_000), unit_rows(3)[0]
    cosines = cosines_of(question, vectors)
    similarity = Similarity.of_question(Cosines(question, vectors, cosines if known else None), 0.9)
    assert similarity.nothing == float(np.median(cosines[sample_of(5_000)]))
    rows = np.array([4_999, 3, 4, 8])
    assert similarity.cosines.at(rows).tolist() == cosines[rows].tolist()
    assert similarity.of(rows).tolist() == pytest.approx([similarity.scaled(cosine) for cosine in cosines[rows].tolist()])
    assert similarity.cosine(similarity.scaled(0.3)) == pytest.approx(0.3)
