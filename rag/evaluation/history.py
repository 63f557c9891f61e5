"""Runs as the log keeps them, and how they went on: a line a series, and what dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag.answer_log.evaluations import EvalMean, EvalRun
from rag.evaluation.datasets import questions_hash
from rag.evaluation.report import EvalReport, Summary

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Series:
    """One data set at one stage and level, asked the same questions in the same scope each time. `points`: (run, mean), oldest first."""

    dataset: str
    stage: str
    level: str
    scope: str
    points: tuple[tuple[int, EvalMean], ...]


def scope_of(*, root: bool, blank: bool, filters: bool = False) -> str:
    """What was indexed, in words that the log keeps."""
    return ("index_root" if root else "whole") + (", blanked" if blank else "") + (", filtered" if filters else "")


def run_of_report(
    report: EvalReport,
    *,
    files: Sequence[Path],
    scope: str,
    settings: Mapping[str, object],
    note: str,
    started_at: datetime,
    finished_at: datetime,
) -> EvalRun:
    """What the log keeps of a run."""
    return EvalRun(
        id=0,
        started_at=started_at,
        finished_at=finished_at,
        files=tuple(path.name for path in files),
        scope=scope,
        settings=settings,
        note=note,
        asked=len(report.asked),
        left_out=sum(one.questions for one in report.left_out),
        means=tuple(
            _mean(dataset, questions_hash(q for q in report.asked if q.dataset == dataset), summary, level)
            for dataset, summaries in report.parts("dataset").items()
            for summary in summaries
            for level in ("files", "lines")
        ),
    )


def _mean(dataset: str, hashed: str, summary: Summary, level: str) -> EvalMean:
    scores = summary.files if level == "files" else summary.lines
    found = summary.file_intervals if level == "files" else summary.line_intervals
    return EvalMean(
        dataset,
        hashed,
        summary.stage,
        level,
        summary.questions,
        summary.repositories,
        scores.ndcg,
        scores.recall,
        scores.precision,
        scores.reciprocal_rank,
        found["ndcg"].low if found else None,
        found["ndcg"].high if found else None,
        summary.milliseconds,
    )


def series_of(runs: Sequence[EvalRun], *, dataset: str = "", stage: str = "", level: str = "files") -> list[Series]:
    """The runs, oldest first, as series; those of another question set, scope, data set or stage are series of their own."""
    found: dict[tuple[str, str, str, str, str], list[tuple[int, EvalMean]]] = {}
    for run in runs:
        for mean in run.means:
            if mean.level == level and dataset in ("", mean.dataset) and stage in ("", mean.stage):
                key = (mean.dataset, run.scope, mean.questions_hash, mean.stage, level)
                found.setdefault(key, []).append((run.id, mean))
    return [Series(key[0], key[3], key[4], key[1], tuple(points)) for key, points in found.items()]


def sparkline(values: Sequence[float]) -> str:
    """A bar a value, from the least to the greatest; equal values stand in the middle."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high - low < 1e-9:
        return _BARS[3] * len(values)
    return "".join(_BARS[round((value - low) / (high - low) * (len(_BARS) - 1))] for value in values)


def render(runs: Sequence[EvalRun], series: Sequence[Series]) -> str:
    """The runs a line each, then every series: its bars, from what to what, and the interval of the last mean."""
    if not runs:
        return "No evaluation was run yet. Start with: footnote eval QUESTIONS.jsonl --repos DIR\n"
    lines = ["run  when (UTC)          asked  questions"]
    for run in runs:
        left = f" ({run.left_out} left out)" if run.left_out else ""
        note = f"  {run.note}" if run.note else ""
        lines.append(f"{run.id:>3}  {run.started_at:%Y-%m-%d %H:%M}  {run.asked:>8}  {', '.join(run.files)}, {run.scope}{left}{note}")
    heading = ("", "")
    width = max([len(one.stage) for one in series] + [5])
    for one in series:
        first, last = one.points[0][1], one.points[-1][1]
        if heading != (one.dataset, f"{one.scope}{last.questions}"):
            heading = (one.dataset, f"{one.scope}{last.questions}")
            where = f"{last.questions} questions, {last.repositories} repositories, {one.scope}"
            lines += ["", f"{one.dataset} ({where}): NDCG@10 of {one.level}"]
        interval = f"  95 % {last.low:.3f}–{last.high:.3f}" if last.low is not None and last.high is not None else ""
        numbers = [run for run, _ in one.points]
        span = f"run {numbers[0]}" if len(numbers) == 1 else f"runs {numbers[0]}–{numbers[-1]}"
        bars = sparkline([mean.ndcg for _, mean in one.points])
        lines.append(f"  {one.stage:<{width}}  {bars}  {first.ndcg:.4f} -> {last.ndcg:.4f}{interval}  ({span})")
    return "\n".join(lines) + "\n"
