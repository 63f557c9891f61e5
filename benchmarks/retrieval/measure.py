"""Asks the sets, one after another, and makes rows of what they found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.retrieval.beyond import foreign, latency
from benchmarks.retrieval.documentation import GROUP, documentation_questions, write
from benchmarks.retrieval.quoted import quoted_questions
from benchmarks.retrieval.rows import FINAL, ROWS, SETS, SHOWN, Cell, Result, Row, Set, asked_as, fewer_commits
from bot.configuration import load_settings
from bot.part_settings import embedding_settings, retrieval_settings
from rag.evaluation.datasets import Question, in_half, read_questions
from rag.evaluation.indexes import EvalIndexes
from rag.evaluation.report import EvalReport, Indexed, LeftOut
from rag.evaluation.runner import EvalProgress, EvalSettings, evaluate
from rag.types import Filters


def tell(message: str) -> None:
    """A line on standard error; on a terminal the same line again and again."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2K{message[:150]}")
        sys.stderr.flush()


async def measure(bench: Path, repos: Path, options: argparse.Namespace) -> tuple[list[Result], list[str]]:
    """The rows that could be measured, and what was left out, in lines."""
    own = load_settings(None)
    settings = EvalSettings(
        own.data_dir / "evaluation",
        embedding=embedding_settings(own),
        retrieval=retrieval_settings(own),
        standing_only=options.standing,
    )
    results: list[Result] = []
    left_out: list[str] = []
    largest: tuple[Indexed, Question] | None = None
    every: list[Question] = []
    whole: EvalReport | None = None
    for one in SETS:
        if options.only and one.name not in options.only:
            continue
        questions = _read(bench, one, options.commits)
        if not questions:
            left_out.append(f"{one.name}: {', '.join(one.files)}.jsonl is not in {bench}.")
            continue
        every += questions
        report = await _ask(one, questions, repos, settings, options.save_documentation)
        left_out += _left_out(one.name, report)
        results += [_result(row, report) for row in ROWS if row.set == one.name]
        if one.name == "concept":
            whole = report
        if not (one.root or one.documentation or one.quoted):
            for indexed in report.indexes:
                if largest is None or indexed.chunks > largest[0].chunks:
                    largest = indexed, next(q for q in report.asked if (q.repository, q.commit) == (indexed.repository, indexed.commit))
    indexes = EvalIndexes(repos, settings.data_dir, embedding=settings.embedding, standing_only=True)
    try:
        if whole is not None and whole.asked:
            results.append(await foreign(whole, indexes, settings.retrieval, tell))
        if largest is not None:
            results += await latency(every, largest[1], indexes, settings.retrieval, tell)
    finally:
        indexes.close()
    return results, left_out


def _left_out(name: str, report: EvalReport) -> list[str]:
    """A line a reason: how many questions, about which repositories."""
    reasons: dict[str, list[LeftOut]] = {}
    for out in report.left_out:
        reasons.setdefault(out.reason, []).append(out)
    lines = []
    for reason, found in reasons.items():
        about = ", ".join(dict.fromkeys(out.repository for out in found))
        lines.append(f"{name}: {sum(out.questions for out in found)} questions were NOT asked ({about}): {reason}")
    return lines


def _read(bench: Path, one: Set, commits: int | None) -> list[Question]:
    paths = [(Path(__file__).parent if one.own else bench) / f"{name}.jsonl" for name in one.files]
    found = [question for path in paths if path.is_file() for question in read_questions(path)]
    return fewer_commits(found, one.commits if commits is None else commits) if one.commits else found


async def _ask(one: Set, questions: Sequence[Question], repos: Path, settings: EvalSettings, save: Path | None) -> EvalReport:
    asking = replace(settings, root=one.root, group=one.group)
    if one.documentation or one.quoted:
        indexes = EvalIndexes(repos, settings.data_dir, embedding=settings.embedding, standing_only=settings.standing_only)
        try:
            make = documentation_questions if one.documentation else quoted_questions
            questions = await make(questions, indexes, dense=settings.standing_only)
        finally:
            indexes.close()
    if one.documentation:
        if save is not None:
            write(questions, save)
        # Blanking changes a few chunks of an index that stands, so even --standing builds here.
        asking = replace(asking, blank=True, filters=Filters() if one.all_files else Filters(language=GROUP), standing_only=False)
    elif one.files == ("explain",):
        questions = [replace(q, relevant=tuple(label for label in q.relevant if label.grade == 2) or q.relevant) for q in questions]

    def show(progress: EvalProgress) -> None:
        tell(f"{one.name}: {progress.done}/{progress.total} {progress.step} {progress.repository} {progress.message}")

    reports = []
    for columns in (tuple(column for column in SHOWN if column != "rrf"), ("rrf",)):
        stages = [asked_as(column, settings.retrieval) for column in columns]
        found = await evaluate(
            questions, repos, replace(asking, stages=[stage for stage, _ in stages], retrieval=stages[0][1]), on_progress=show
        )
        names: dict[str, str] = {stage: column for column, (stage, _) in zip(columns, stages, strict=True)}
        reports.append(replace(found, outcomes=tuple(replace(outcome, stage=names[outcome.stage]) for outcome in found.outcomes)))
    return replace(reports[0], stages=SHOWN, outcomes=tuple(outcome for report in reports for outcome in report.outcomes))


def _result(row: Row, report: EvalReport) -> Result:
    summaries = [report.summary(stage, row.wanted) for stage in SHOWN]
    final = summaries[-1]
    intervals = final.line_intervals if row.lines else final.file_intervals
    halves = []
    for half in ("a", "b"):
        part = report.summary(FINAL, lambda question, half=half: row.wanted(question) and in_half(question.repository, half))  # type: ignore[misc]
        halves.append(row.value(part) if part.questions else None)
    return Result(
        row.name,
        tuple(Cell(one.stage, row.value(one) if one.questions else None) for one in summaries),
        row.tried,
        row.target,
        final.questions,
        final.repositories,
        (intervals[row.measure].low, intervals[row.measure].high) if intervals else None,
        (halves[0], halves[1]),
    )
