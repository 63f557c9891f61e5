"""Runs as series, and how they are drawn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rag.evaluation.datasets import read_questions
from rag.evaluation.history import render, run_of_report, scope_of, series_of, sparkline
from rag.evaluation.report import LeftOut
from tests.evaluation.synthetic import write
from tests.evaluation.test_report import _report
from tests.log.samples import evaluation

WHEN = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def test_a_report_is_kept_by_data_set_stage_and_level(tmp_path: Path) -> None:
    report = replace(_report(tmp_path), left_out=(LeftOut("o/r", "a" * 40, 3, "gone"),))
    run = run_of_report(
        report,
        files=[tmp_path / "q.jsonl"],
        scope=scope_of(root=True, blank=True),
        settings={},
        note="n",
        started_at=WHEN,
        finished_at=WHEN,
    )
    assert (run.files, run.scope, run.asked, run.left_out) == (("q.jsonl",), "index_root, blanked", 60, 3)
    files, lines = run.means
    assert (files.dataset, files.stage, files.level, files.questions, files.repositories) == ("synthetic", "fused", "files", 60, 3)
    assert files.ndcg == report.means("fused").ndcg
    assert lines.ndcg == report.means("fused", lines=True).ndcg
    assert files.low is not None
    assert files.high is not None
    assert files.low < files.ndcg < files.high
    assert len(read_questions(write(tmp_path)[0])) == files.questions


def test_runs_of_other_questions_or_another_scope_are_series_of_their_own() -> None:
    runs = [
        replace(evaluation(0.5), id=1),
        replace(evaluation(0.6, questions_hash="1" * 16), id=2),
        replace(evaluation(0.7, scope="index_root"), id=3),
        replace(evaluation(0.8), id=4),
        replace(evaluation(0.4, dataset="change"), id=5),
    ]
    found = series_of(runs)
    assert [[run for run, _ in one.points] for one in found] == [[1, 4], [2], [3], [5]]
    assert [one.dataset for one in series_of(runs, dataset="change")] == ["change"]
    assert series_of(runs, stage="dense") == []
    text = render(runs, found)
    assert "▁█  0.5000 -> 0.8000  95 % 0.700–0.900  (runs 1–4)" in text
    assert "change (2 questions, 2 repositories, whole): NDCG@10 of files" in text
    assert "(1 left out)  a note" in text
    assert render([], []).startswith("No evaluation was run yet.")


def test_a_line_of_bars() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([0.7, 0.7]) == "▄▄"
    assert sparkline([]) == ""
