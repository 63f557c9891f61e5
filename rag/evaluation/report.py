"""What an evaluation found, as values: outcomes, their means over any part of the questions, and how sure these are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from rag.evaluation.datasets import Question
from rag.evaluation.intervals import Interval, intervals
from rag.evaluation.metrics import Place, Scores, mean

DIMENSIONS: dict[str, Callable[[Question], str]] = {
    "dataset": lambda question: question.dataset,
    "language": lambda question: question.language,
    "kind": lambda question: question.category,
    "repository": lambda question: question.repository,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question at one stage. `places`: the ranking, best first. `files`, `lines`: its scores at either level.

    `seconds`: of the search. `confidence`: that retrieval gave with its results, the best cosine similarity where it gives none, None
    for a stage that looked at no vector.
    """

    question: Question
    stage: str
    places: tuple[Place, ...]
    files: Scores
    lines: Scores
    seconds: float
    confidence: float | None = None


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
class Summary:
    """One stage on one part of the questions. `intervals`: by measure, None with fewer than two repositories."""

    stage: str
    questions: int
    repositories: int
    files: Scores
    lines: Scores
    file_intervals: dict[str, Interval] | None
    line_intervals: dict[str, Interval] | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class EvalReport:
    """`questions`: how many were read, asked or not. `root`: whether only `index_root` was indexed."""

    questions: int
    stages: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    left_out: tuple[LeftOut, ...]
    indexes: tuple[Indexed, ...]
    root: bool = False

    @property
    def asked(self) -> tuple[Question, ...]:
        """The questions that were asked, each once."""
        return tuple({outcome.question.id: outcome.question for outcome in self.outcomes}.values())

    @property
    def has_lines(self) -> bool:
        """Whether any question asks for lines, so that the line level says something of its own."""
        return any(label.start_line is not None for outcome in self.outcomes for label in outcome.question.relevant)

    def means(self, stage: str, *, lines: bool = False, repository: str = "") -> Scores:
        """Over the questions that were asked, or those about one repository."""
        found = self.of(stage, lambda question: repository in ("", question.repository))
        return mean(outcome.lines if lines else outcome.files for outcome in found)

    def milliseconds(self, stage: str) -> float:
        """Median time of a search."""
        return 1000 * median([outcome.seconds for outcome in self.of(stage)] or [0.0])

    def of(self, stage: str, wanted: Callable[[Question], bool] = lambda question: True) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.stage == stage and wanted(outcome.question)]

    def summary(self, stage: str, wanted: Callable[[Question], bool] = lambda question: True) -> Summary:
        """One stage on the questions that are wanted; zeros where there is none."""
        found = self.of(stage, wanted)
        files, lines = [one.files for one in found], [one.lines for one in found]
        about = [one.question.repository for one in found]
        return Summary(
            stage,
            len(found),
            len(set(about)),
            mean(files),
            mean(lines),
            intervals(files, about),
            intervals(lines, about),
            1000 * median([one.seconds for one in found] or [0.0]),
        )

    def parts(self, dimension: str) -> dict[str, list[Summary]]:
        """A summary of every stage by the value that questions have in a dimension, in order of appearance; "" is no value.

        Raises: KeyError for a dimension that is none.
        """
        value = DIMENSIONS[dimension]
        values: Sequence[str] = list(dict.fromkeys(value(question) for question in self.asked))
        return {one: [self.summary(stage, lambda question, one=one: value(question) == one) for stage in self.stages] for one in values}  # type: ignore[misc]
