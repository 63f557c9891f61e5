"""Parts of a report, and its agreement with a scorer written anew from the definition of the published metric."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rag.errors import EvaluationError
from rag.evaluation.datasets import Question, in_half, questions_hash, read_all, read_questions
from rag.evaluation.export import to_json
from rag.evaluation.metrics import Place, score
from rag.evaluation.report import EvalReport, Outcome
from rag.evaluation.tables import render
from tests.evaluation.synthetic import questions_and_rankings, write


def _by_definition(question: dict[str, Any], results: list[dict[str, Any]], lines: bool) -> tuple[float, float, float, float]:
    """NDCG@10, recall@10, precision@5 and reciprocal rank as the published scorer defines them, each computed in its own pass."""

    def hits(result: dict[str, Any], label: dict[str, Any]) -> bool:
        same = bool(result["path"] == label["path"])
        if same and lines and "start_line" in label:
            return not (result["end_line"] < label["start_line"] or label["end_line"] < result["start_line"])
        return same

    labels = question["relevant"] if lines else [{"path": path} for path in {label["path"] for label in question["relevant"]}]
    first = [min((n for n, result in enumerate(results, 1) if hits(result, label)), default=math.inf) for label in labels]
    gained = sum(1 / math.log2(rank + 1) for rank in {rank for rank in first if rank <= 10})
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(labels), 10) + 1))
    right = [any(hits(result, label) for label in labels) for result in results]
    return (
        gained / best,
        len([rank for rank in first if rank <= 10]) / len(labels),
        sum(right[:5]) / 5,
        1 / (right.index(True) + 1) if any(right) else 0.0,
    )


def _report(directory: Path) -> EvalReport:
    questions_file, _ = write(directory)
    rankings = {row["id"]: row["results"] for row in questions_and_rankings()[1]}
    outcomes = []
    for number, question in enumerate(read_questions(questions_file)):
        # Halve them by kind and language, so that the parts differ.
        question = Question(
            question.id,
            question.dataset,
            question.repository,
            question.commit,
            ("go", "python")[number % 2],
            question.text,
            question.relevant,
            category=("how", "")[number % 2],
        )
        places = tuple(Place(**place) for place in rankings.get(question.id, []))
        files, lines = (score(places, question.relevant, lines=level) for level in (False, True))
        outcomes.append(Outcome(question, "fused", places, files, lines, 0.01))
    return EvalReport(len(outcomes), ("fused",), tuple(outcomes), (), ())


@pytest.mark.parametrize("level", ["files", "lines"])
def test_agrees_to_four_digits_with_a_scorer_of_its_own(tmp_path: Path, level: str) -> None:
    questions, rankings = questions_and_rankings()
    results = {row["id"]: row["results"] for row in rankings}
    rows = [_by_definition(question, results.get(question["id"], []), level == "lines") for question in questions]
    expected = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    found: Any = json.loads(json.dumps(to_json(_report(tmp_path))))
    means = found["stages"]["fused"][level]
    assert [round(means[name], 4) for name in ("ndcg", "recall", "precision", "reciprocal_rank")] == [round(one, 4) for one in expected]


def test_parts_hold_each_question_once_and_their_means_add_up(tmp_path: Path) -> None:
    report = _report(tmp_path)
    for dimension, values in (("language", {"go", "python"}), ("kind", {"how", ""}), ("repository", {"owner/r0", "owner/r1", "owner/r2"})):
        parts = {value: summaries[0] for value, summaries in report.parts(dimension).items()}
        assert parts.keys() == values
        assert sum(one.questions for one in parts.values()) == 60
        whole = sum(one.questions * one.files.ndcg for one in parts.values()) / 60
        assert whole == pytest.approx(report.means("fused").ndcg)
    summary = report.summary("fused")
    assert summary.repositories == 3
    assert summary.file_intervals is not None
    interval = summary.file_intervals["ndcg"]
    assert interval.low < summary.files.ndcg < interval.high
    assert report.parts("repository")["owner/r0"][0].file_intervals is None
    assert report.summary("fused", lambda question: False).questions == 0


def test_the_table_shows_what_it_is_asked_for(tmp_path: Path) -> None:
    report = _report(tmp_path)
    text = render(report)
    assert "60 of 60 questions, 3 repositories" in text
    assert "language  asked" in text
    assert "data set" not in text  # there is but one
    assert "kind of question" not in text  # the other questions have none
    assert "owner/r1" not in text
    assert "owner/r1" in render(report, by=["repository"])


def test_several_files_are_read_as_one_and_an_id_in_two_is_refused(tmp_path: Path) -> None:
    questions, _ = questions_and_rankings()
    for name, rows in (("one", questions[:2]), ("two", questions[2:5]), ("again", questions[:1])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [q.id for q in read_all([tmp_path / "one.jsonl", tmp_path / "two.jsonl"])] == ["q0", "q1", "q2", "q3", "q4"]
    with pytest.raises(EvaluationError, match=r"'q0' is in .*one.jsonl and in .*again.jsonl"):
        read_all([tmp_path / "one.jsonl", tmp_path / "again.jsonl"])


def test_the_hash_knows_labels_and_not_order(tmp_path: Path) -> None:
    questions = read_questions(write(tmp_path)[0])
    assert questions_hash(questions) == questions_hash(reversed(questions))
    assert questions_hash(questions) != questions_hash(questions[1:])
    assert len(questions_hash(questions)) == 16


def test_halves_are_disjoint_and_both_are_used() -> None:
    names = [f"owner/name{number}" for number in range(200)]
    assert all(in_half(name, "a") != in_half(name, "b") for name in names)
    assert 60 < sum(in_half(name, "a") for name in names) < 140
    assert in_half("Owner/Name", "a") == in_half("owner/name", "a")
