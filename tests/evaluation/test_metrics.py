"""The metrics are the published ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.evaluation.datasets import Label, read_questions
from rag.evaluation.metrics import NOTHING, Place, Scores, mean, score
from tests.evaluation.synthetic import write

# What the independent scorer that comes with the labelled questions prints for these two files (NDCG@10, recall@10, precision@5, MRR).
FILES = {
    "": (0.1880, 0.2500, 0.1133, 0.2265),
    "owner/r0": (0.2188, 0.3250, 0.1500, 0.2362),
    "owner/r1": (0.1980, 0.2333, 0.1200, 0.2603),
    "owner/r2": (0.1471, 0.1917, 0.0700, 0.1829),
}
LINES = {
    "": (0.0956, 0.1528, 0.0633, 0.1100),
    "owner/r0": (0.1253, 0.2083, 0.1000, 0.1511),
    "owner/r1": (0.1046, 0.1750, 0.0600, 0.1061),
    "owner/r2": (0.0568, 0.0750, 0.0300, 0.0729),
}


@pytest.mark.parametrize(("lines", "expected"), [(False, FILES), (True, LINES)])
def test_agrees_with_the_independent_scorer_to_four_digits(tmp_path: Path, lines: bool, expected: dict[str, tuple[float, ...]]) -> None:
    questions_file, rankings_file = write(tmp_path)
    rankings = {row["id"]: [Place(**place) for place in row["results"]] for row in map(json.loads, rankings_file.open())}
    for repository, figures in expected.items():
        questions = [question for question in read_questions(questions_file) if repository in ("", question.repository)]
        found = mean(score(rankings.get(question.id, []), question.relevant, lines=lines) for question in questions)
        assert (found.ndcg, found.recall, found.precision, found.reciprocal_rank) == pytest.approx(figures, abs=5.1e-5)


def _place(path: str, start: int = 1, end: int = 10) -> Place:
    return Place(path, start, end)


def test_by_hand() -> None:
    labels = [Label("a"), Label("b")]
    assert score([_place("a"), _place("b")], labels, lines=False) == Scores(1.0, 1.0, 0.4, 1.0)
    # a repeated file keeps its rank: b stands at 3, for 1/log2(4)
    third = score([_place("a"), _place("a", 20, 30), _place("b")], labels, lines=False)
    assert third.ndcg == pytest.approx((1 + 0.5) / (1 + 0.6309297535714575))
    assert (third.recall, third.precision, third.reciprocal_rank) == (1.0, 0.6, 1.0)
    late = score([_place("x")] * 10 + [_place("a")], labels, lines=False)
    assert (late.ndcg, late.recall, late.precision) == (0.0, 0.0, 0.0)
    assert late.reciprocal_rank == pytest.approx(1 / 11)
    assert score([], labels, lines=False) == NOTHING


def test_lines_overlap_inclusively() -> None:
    labels = [Label("a", 10, 20)]
    for start, end, met in ((1, 9, False), (1, 10, True), (20, 30, True), (21, 30, False), (12, 13, True), (1, 99, True)):
        assert score([_place("a", start, end)], labels, lines=True).recall == float(met)
        assert score([_place("a", start, end)], labels, lines=False).recall == 1.0


def test_a_label_without_lines_is_met_by_its_file() -> None:
    assert score([_place("a", 500, 501)], [Label("a")], lines=True).ndcg == 1.0


def test_labels_of_one_file_count_once_as_files_and_each_as_lines() -> None:
    labels = [Label("a", 1, 5), Label("a", 50, 55)]
    assert score([_place("a", 1, 5)], labels, lines=False).recall == 1.0
    assert score([_place("a", 1, 5)], labels, lines=True).recall == 0.5


def test_nothing_to_find_is_an_error() -> None:
    with pytest.raises(ValueError, match="labels"):
        score([_place("a")], [], lines=False)


def test_the_mean_of_nothing_is_nothing() -> None:
    assert mean([]) == NOTHING
    assert mean([Scores(1, 0, 1, 0), NOTHING]) == Scores(0.5, 0, 0.5, 0)


places = st.builds(Place, st.sampled_from("abcde"), st.integers(1, 50), st.integers(50, 99))
labels = st.builds(
    lambda path, start, lines: Label(path, start, start + lines), st.sampled_from("abcde"), st.integers(1, 80), st.integers(0, 9)
)


@given(st.lists(places, max_size=60), st.lists(labels, min_size=1, max_size=15), st.booleans())
def test_scores_lie_between_0_and_1_and_moving_a_right_result_up_never_hurts(ranking: list[Place], gold: list[Label], lines: bool) -> None:
    before = score(ranking, gold, lines=lines)
    for value in (before.ndcg, before.recall, before.precision, before.reciprocal_rank):
        assert 0 <= value <= 1 + 1e-12
    # A perfect ranking of files gains everything.
    perfect = [Place(path, 1, 99) for path in dict.fromkeys(label.path for label in gold)]
    assert score(perfect, gold, lines=False).ndcg == pytest.approx(1.0)
    right = next((i for i, place in enumerate(ranking) if score([place], gold, lines=lines).recall), None)
    if right:
        moved = [ranking[right], *ranking[:right], *ranking[right + 1 :]]
        assert score(moved, gold, lines=lines).reciprocal_rank == 1.0
