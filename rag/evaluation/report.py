"""What an evaluation found, as values, as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rag.evaluation.datasets import Question
from rag.evaluation.metrics import Place, Scores, mean


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question at one stage. `places`: the ranking, best first. `files`, `lines`: its scores at either level.

    `seconds`: of the search.
    """

    question: Question
    stage: str
    places: tuple[Place, ...]
    files: Scores
    lines: Scores
    seconds: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Questions that could not be asked, and why. They are in no mean."""

    repository: str
    commit: str
    questions: int
    reason: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """One index that was asked. `built`: False where it stood already. `seconds`: of the build."""

    repository: str
    commit: str
    root: str
    documents: int
    chunks: int
    built: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class EvalReport:
    """`questions`: how many were read, asked or not."""

    questions: int
    stages: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    left_out: tuple[LeftOut, ...]
    indexes: tuple[Indexed, ...]

    @property
    def asked(self) -> int:
        return len({outcome.question.id for outcome in self.outcomes})

    @property
    def has_lines(self) -> bool:
        """Whether any question asks for lines, so that the line level says something of its own."""
        return any(label.start_line is not None for outcome in self.outcomes for label in outcome.question.relevant)

    def means(self, stage: str, *, lines: bool = False, repository: str = "") -> Scores:
        """Over the questions that were asked, or those about one repository."""
        return mean(outcome.lines if lines else outcome.files for outcome in self._of(stage, repository))

    def milliseconds(self, stage: str) -> float:
        """Median time of a search."""
        return 1000 * median([outcome.seconds for outcome in self._of(stage, "")] or [0.0])

    def repositories(self) -> list[str]:
        return list(dict.fromkeys(outcome.question.repository for outcome in self.outcomes))

    def _of(self, stage: str, repository: str) -> list[Outcome]:
        return [o for o in self.outcomes if o.stage == stage and repository in ("", o.question.repository)]


def render(report: EvalReport, *, by_repository: bool = False) -> str:
    """Plain text: a table of stages at file level, one at line level where lines were asked for, and what was left out."""
    width = max([len(stage) for stage in report.stages] + [5])
    head = f"{'stage':<{width}}  NDCG@10  recall@10  precision@5     MRR"
    lines = [f"{report.asked} of {report.questions} questions, {len(report.indexes)} indexes", "", f"files  {head}   median ms"]
    lines += [f"       {stage:<{width}}{_row(report.means(stage))}{report.milliseconds(stage):>12.1f}" for stage in report.stages]
    if report.has_lines:
        lines += ["", f"lines  {head}"]
        lines += [f"       {stage:<{width}}{_row(report.means(stage, lines=True))}" for stage in report.stages]
    if by_repository:
        lines += ["", "NDCG@10 of files by repository: " + ", ".join(report.stages)]
        for repository in report.repositories():
            figures = "  ".join(f"{report.means(stage, repository=repository).ndcg:.4f}" for stage in report.stages)
            lines.append(f"       {figures}  {repository}")
    if report.left_out:
        missing = sum(one.questions for one in report.left_out)
        lines += ["", f"{missing} questions were NOT asked and are in no mean:"]
        lines += [f"       {one.questions:>4}  {one.repository}@{one.commit[:12]}: {one.reason}" for one in report.left_out]
    return "\n".join(lines) + "\n"


def to_json(report: EvalReport) -> dict[str, object]:
    """`stages` holds, by stage, the means at file and at line level; `questions` each question's scores."""
    return {
        "questions": report.questions,
        "asked": report.asked,
        "stages": {
            stage: {
                "files": asdict(report.means(stage)),
                "lines": asdict(report.means(stage, lines=True)),
                "median_ms": round(report.milliseconds(stage), 3),
            }
            for stage in report.stages
        },
        "left_out": [asdict(one) for one in report.left_out],
        "indexes": [asdict(one) for one in report.indexes],
        "outcomes": [{"id": o.question.id, "stage": o.stage, "files": asdict(o.files), "lines": asdict(o.lines)} for o in report.outcomes],
    }


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


def _row(scores: Scores) -> str:
    return f"{scores.ndcg:>9.4f}{scores.recall:>11.4f}{scores.precision:>13.4f}{scores.reciprocal_rank:>8.4f}"
