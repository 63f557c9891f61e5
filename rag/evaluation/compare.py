"""Two runs over the same questions: which got worse, which better, and whether the mean dropped by more than chance.

The difference of two runs is sure where the interval of the mean difference, question by question, leaves out zero. That is narrower than
the interval of either mean: which repositories were asked is the same in both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.answer_log.evaluations import EvalScore
from rag.errors import EvaluationError
from rag.evaluation.intervals import Interval, bootstrap
from rag.evaluation.report import EvalReport

LEAST = 0.001  # of NDCG@10: a smaller drop is nobody's business, however sure


@dataclass(frozen=True, slots=True)
class Changed:
    """One question whose NDCG@10 differs. `text`: as it is asked now."""

    id: str
    repository: str
    stage: str
    level: str  # "files" or "lines"
    before: float
    now: float
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean NDCG@10 of one data set at one stage and level, on the questions that both runs asked. `interval`: of `now` − `before`."""

    dataset: str
    stage: str
    level: str
    questions: int
    before: float
    now: float
    interval: Interval

    @property
    def dropped(self) -> bool:
        """Worse, and by more than chance."""
        return self.before - self.now >= LEAST and self.interval.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """`name`: of the earlier run. `worse`: most lost first, `better`: most gained first."""

    name: str
    differences: tuple[Difference, ...]
    worse: tuple[Changed, ...]
    better: tuple[Changed, ...]

    @property
    def drops(self) -> tuple[Difference, ...]:
        return tuple(one for one in self.differences if one.dropped)


def scores_of_report(report: EvalReport) -> list[EvalScore]:
    """NDCG@10 of each question at each stage."""
    return [
        EvalScore(o.question.id, o.question.dataset, o.question.repository, o.stage, o.files.ndcg, o.lines.ndcg) for o in report.outcomes
    ]


def scores_of_file(path: Path) -> list[EvalScore]:
    """The scores in what `footnote eval --json` printed. Raises: EvaluationError."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["outcomes"]
        return [
            EvalScore(row["id"], row["dataset"], row["repository"], row["stage"], float(row["files"]["ndcg"]), float(row["lines"]["ndcg"]))
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvaluationError(
            f"{path} is no saved run: {type(error).__name__}.", "Save one with: footnote eval QUESTIONS.jsonl --json > run.json"
        ) from error


def compare(now: Sequence[EvalScore], before: Sequence[EvalScore], name: str, texts: Mapping[str, str] = {}) -> Comparison:
    """A run against an earlier one, on what both asked; empty where they have nothing in common. `texts`: id -> the question."""
    known = {(one.question, one.stage): one for one in before}
    changed: list[Changed] = []
    pairs: dict[tuple[str, str, str], list[tuple[str, float, float]]] = {}
    for one in now:
        earlier = known.get((one.question, one.stage))
        if earlier is None:
            continue
        for level, was, value in (("files", earlier.files, one.files), ("lines", earlier.lines, one.lines)):
            pairs.setdefault((one.dataset, one.stage, level), []).append((one.repository, was, value))
            if abs(was - value) > 1e-9:
                text = texts.get(one.question, "")
                changed.append(Changed(one.question, one.repository, one.stage, level, was, value, text))
    changed.sort(key=lambda row: row.now - row.before)
    worse = tuple(row for row in changed if row.now < row.before)
    better = tuple(row for row in reversed(changed) if row.now > row.before)
    return Comparison(name, tuple(_difference(*key, rows) for key, rows in pairs.items()), worse, better)


def _difference(dataset: str, stage: str, level: str, rows: list[tuple[str, float, float]]) -> Difference:
    gains = np.array([[now - was] for _, was, now in rows])
    low, high = bootstrap(gains, [repository for repository, _, _ in rows])
    before = sum(was for _, was, _ in rows) / len(rows)
    return Difference(
        dataset,
        stage,
        level,
        len(rows),
        before,
        before + float(gains.mean()),
        Interval(round(float(low[0]), 12), round(float(high[0]), 12)),
    )


def render(comparison: Comparison, most: int = 20) -> str:
    """Plain text: the means, the drops in capitals, and the questions that changed most."""
    if not comparison.differences:
        return f"Run {comparison.name} asked none of these questions at these stages.\n"
    lines = [f"Against run {comparison.name}: NDCG@10, and the 95 % interval of the difference"]
    for one in comparison.differences:
        verdict = "DROPPED" if one.dropped else "gained" if one.interval.low > 0 else "no sure change"
        gain = one.now - one.before
        lines.append(
            f"  {one.dataset:<12} {one.stage:<9} {one.level}  {one.before:.4f} -> {one.now:.4f}  "
            f"{gain:+.4f} ({one.interval.low:+.4f} to {one.interval.high:+.4f}, {one.questions} questions)  {verdict}"
        )
    for word, found in (("worse", comparison.worse), ("better", comparison.better)):
        if found:
            lines += ["", f"{len(found)} got {word}" + (f", the {most} most:" if len(found) > most else ":")]
            lines += [
                f"  {one.before:.2f} -> {one.now:.2f}  {one.stage:<9} {one.level}  {one.id}  {' '.join(one.text.split())[:90]}"
                for one in found[:most]
            ]
    return "\n".join(lines) + "\n"


def loudly(comparison: Comparison) -> str:
    """One line that nobody overlooks, "" where nothing dropped."""
    if not comparison.drops:
        return ""
    parts = [f"{one.dataset} {one.stage} {one.level} {one.before:.3f} -> {one.now:.3f}" for one in comparison.drops]
    return f"RETRIEVAL GOT WORSE since run {comparison.name}, beyond the 95 % interval: {'; '.join(parts)}"
