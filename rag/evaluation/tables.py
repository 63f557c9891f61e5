"""An evaluation as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from rag.evaluation.intervals import Interval
from rag.evaluation.metrics import Scores
from rag.evaluation.report import EvalReport, Summary

SHOWN = ("dataset", "language", "kind")  # unless others are asked for
_NAMES = {"dataset": "data set", "language": "language", "kind": "kind of question", "repository": "repository"}


def render(report: EvalReport, by: Sequence[str] = SHOWN) -> str:
    """A table of stages at file level, one at line level where lines were asked for, one a dimension in which the questions differ, and
    what was left out."""
    width = max([len(stage) for stage in report.stages] + [5])
    head = f"{'stage':<{width}}  NDCG@10  95 % interval  recall@10  precision@5     MRR"
    whole = [report.summary(stage) for stage in report.stages]
    repositories = max([one.repositories for one in whole] or [0])
    lines = [f"{len(report.asked)} of {report.questions} questions, {repositories} repositories, {len(report.indexes)} indexes", ""]
    lines.append(f"files  {head}   median ms")
    lines += [f"       {one.stage:<{width}}{_row(one.files, one.file_intervals)}{one.milliseconds:>12.1f}" for one in whole]
    if report.has_lines:
        lines += ["", f"lines  {head}"]
        lines += [f"       {one.stage:<{width}}{_row(one.lines, one.line_intervals)}" for one in whole]
    for dimension in by:
        parts = {value: summaries for value, summaries in report.parts(dimension).items() if value}
        if len(parts) > 1 or (parts and dimension == "repository"):
            lines += ["", *_part(_NAMES[dimension], parts, width, report.has_lines)]
    if report.left_out:
        missing = sum(one.questions for one in report.left_out)
        lines += ["", f"{missing} questions were NOT asked and are in no mean:"]
        lines += [f"       {one.questions:>4}  {one.repository}@{one.commit[:12]}: {one.reason}" for one in report.left_out]
    return "\n".join(lines) + "\n"


def _part(name: str, parts: dict[str, list[Summary]], width: int, has_lines: bool) -> list[str]:
    label = max(len(name), *(len(value) for value in parts))
    beside = "   lines: NDCG@10  recall@10  precision@5     MRR" if has_lines else ""
    lines = [f"{name:<{label}}  asked  {'stage':<{width}}  NDCG@10  95 % interval  recall@10  precision@5     MRR{beside}"]
    for value, summaries in parts.items():
        for number, one in enumerate(summaries):
            front = f"{value:<{label}}{one.questions:>7}" if not number else " " * (label + 7)
            more = f"   {_figures(one.lines, 14)}" if has_lines else ""
            lines.append(f"{front}  {one.stage:<{width}}{_row(one.files, one.file_intervals)}{more}")
    return lines


def _row(scores: Scores, intervals: dict[str, Interval] | None) -> str:
    interval = str(intervals["ndcg"]) if intervals else "–"
    return f"{scores.ndcg:>9.4f}{interval:>15}{scores.recall:>11.4f}{scores.precision:>13.4f}{scores.reciprocal_rank:>8.4f}"


def _figures(scores: Scores, first: int) -> str:
    return f"{scores.ndcg:>{first}.4f}{scores.recall:>11.4f}{scores.precision:>13.4f}{scores.reciprocal_rank:>8.4f}"
