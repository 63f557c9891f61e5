"""Scores of files from those of their chunks, without a loop over either."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.cosines import cosines_of, sample_of
from rag.index.file_rows import Files
from rag.protocols import Vector
from rag.retrieval.evidence import Evidence, Floats, file_means, first_of, gather, rows_by_words
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
    assert file_means(evidence, scores) == pytest.approx(np.array(means))
    assert evidence.best(scores).tolist() == [max(one) for one in files]
    assert evidence.counts.tolist() == [len(one) for one in files]


@given(SCORES, st.integers(1, 4))
def test_the_first_of_each_file_are_those_of_a_stable_sort(files: list[list[float]], most: int) -> None:
    evidence, scores = evidence_of(files)
    found = np.array(evidence.first_of_each(scores, most)).T.tolist()
    for place, of_file in enumerate(files):
        start = int(evidence.starts[place])
        ordered = sorted(range(len(of_file)), key=lambda position: -of_file[position])
        wanted = [start + position for position in ordered[:most]]
        assert found[place] == wanted + [-1] * (most - len(wanted))


@given(SCORES)
def test_scaled_scores_are_shares_of_the_best_of_their_file(files: list[list[float]]) -> None:
    evidence, scores = evidence_of(files)
    shares = [score / max(one) if max(one) > 0 else 0.0 for one in files for score in one]
    assert evidence.scaled(scores) == pytest.approx(np.array(shares))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=300), st.integers(1, 20))
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
    some = known.copy()
    some[[1, 4, 5]] = np.nan
    files = Files.of(np.array([0, 0, 0, 1, 1, 2, 2], dtype=np.int32), 3, np.zeros(7, np.bool_))
    sparse = np.array([1.0, 0.5, 0.0, 0.0, 0.0, 0.2, 0.1])
    group = np.array([True, True, True])
    gathered = [
        gather(
            files,
            group,
            files.best(sparse),
            sparse,
            allowed,
            [np.array([1], dtype=np.int32)],
            np.zeros(0, np.int64),
            Similarity(question, vectors, cosines, 0.1, float(known.max())),
        )
        for cosines in (known, some, None)
    ]
    one = gathered[0]
    assert one.dense is not None
    for other in gathered[1:]:
        assert other.dense is not None
        assert one.dense.tolist() == other.dense.tolist()
    rows = [row for row in range(7) if allowed is None or allowed[row]]
    assert one.rows.tolist() == rows  # file 1 was brought by meaning alone
    assert one.files.tolist() == ([0, 1, 2] if allowed is None else [0, 2])
    assert [int(one.files[place]) for place in one.owner] == [int(files.numbers[row]) for row in rows]


@pytest.mark.parametrize("sampled", [True, False])
def test_an_unrelated_chunk_has_the_median_of_a_sample(sampled: bool) -> None:
    vectors, question = unit_rows(5_000), unit_rows(3)[0]
    cosines = cosines_of(question, vectors)
    known = np.full(len(vectors), np.nan, dtype=np.float32)
    known[sample_of(vectors)] = cosines[sample_of(vectors)]
    similarity = Similarity.of_question(question, vectors, known if sampled else None, 0.9)
    assert similarity.nothing == float(np.median(cosines[sample_of(vectors)]))
    rows = np.array([4_999, 3, 4, 8])
    assert similarity.cosines(rows).tolist() == cosines[rows].tolist()


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3), min_size=1, max_size=150),
    st.integers(0, 100),
    st.booleans(),
)
def test_what_words_alone_bring_is_among_what_is_gathered(scores: list[list[float]], seed: int, filtered: bool) -> None:
    random = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(len(scores)), [len(one) for one in scores]).astype(np.int32)
    prose = random.random(len(scores)) < 0.5
    files = Files.of(numbers, len(scores), prose[numbers])
    allowed = random.random(len(numbers)) < 0.7 if filtered else None
    sparse = np.array([score for one in scores for score in one]) * (1.0 if allowed is None else allowed)
    best = files.best(sparse)
    early = rows_by_words(files, best, allowed)
    found = [random.integers(0, len(scores), 5).astype(np.int32)]
    groups = [gather(files, group, best, sparse, allowed, found, np.zeros(0, np.int64), None) for group in (~files.prose, files.prose)]
    assert early.tolist() == sorted(early.tolist())
    assert set(early.tolist()) <= {row for group in groups for row in group.rows.tolist()}
    assert {row for row in np.flatnonzero(sparse) if (best > 0).sum() <= 50} <= set(early.tolist())
