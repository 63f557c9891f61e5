"""An evaluation as JSON, and its rankings for an independent scorer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from rag.evaluation.intervals import Interval
from rag.evaluation.report import DIMENSIONS, EvalReport, Outcome, Summary

Json = dict[str, object]


def to_json(report: EvalReport) -> Json:
    """`stages` holds, by stage, the means at file and at line level with their 95 % intervals; `by` the same by dimension and value;
    `outcomes` each question's scores, which `--compare` reads again."""
    return {
        "questions": report.questions,
        "asked": len(report.asked),
        "root": report.root,
        "stages": {stage: _summary(report.summary(stage)) for stage in report.stages},
        "by": {
            dimension: {value: {one.stage: _summary(one) for one in summaries} for value, summaries in report.parts(dimension).items()}
            for dimension in DIMENSIONS
        },
        "left_out": [asdict(one) for one in report.left_out],
        "indexes": [asdict(one) for one in report.indexes],
        "outcomes": [
            {
                "id": one.question.id,
                "dataset": one.question.dataset,
                "repository": one.question.repository,
                "stage": one.stage,
                "files": asdict(one.files),
                "lines": asdict(one.lines),
                "confidence": one.confidence,
            }
            for one in report.outcomes
        ],
    }


def _summary(one: Summary) -> Json:
    return {
        "questions": one.questions,
        "repositories": one.repositories,
        "files": asdict(one.files) | {"interval": _interval(one.file_intervals)},
        "lines": asdict(one.lines) | {"interval": _interval(one.line_intervals)},
        "median_ms": round(one.milliseconds, 3),
    }


def _interval(found: dict[str, Interval] | None) -> dict[str, list[float]] | None:
    return {name: [one.low, one.high] for name, one in found.items()} if found else None


def rankings_file(base: Path, stage: str, stages: Sequence[str]) -> Path:
    """Where a stage's rankings go: `base` itself for a single stage, else with the stage before its suffix: `out.sparse.jsonl`."""
    return base if len(stages) == 1 else base.with_name(f"{base.stem}.{stage}{base.suffix}")


def write_rankings(path: Path, outcomes: Iterable[Outcome]) -> None:
    """One line a question: {"id", "results": [{"path", "start_line", "end_line", "score"}, …]}, best first. Questions that were not asked
    have no line, which a scorer counts as 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as target:
        for outcome in outcomes:
            target.write(json.dumps({"id": outcome.question.id, "results": [asdict(place) for place in outcome.places]}) + "\n")
