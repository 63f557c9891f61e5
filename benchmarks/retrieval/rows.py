"""What is measured and what it should reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from rag.evaluation.datasets import Question
from rag.evaluation.report import Summary
from rag.evaluation.runner import STAGES
from rag.retrieval.candidates import Stage
from rag.retrieval.query_filters import Group
from rag.retrieval.settings import RetrievalSettings

_FUSIONS = any(field.name == "fusion" for field in fields(RetrievalSettings))  # whether reciprocal rank fusion is one of several
NAMES = {"sparse": "BM25", "dense": "dense", "rrf": "RRF", **({"fused": "fused"} if _FUSIONS else {})}
NAMES |= {"ranked": "ranked"} if "ranked" in STAGES else {}
SHOWN: tuple[str, ...] = tuple(NAMES)
FINAL = SHOWN[-1]  # what users get


def asked_as(column: str, settings: RetrievalSettings) -> tuple[Stage, RetrievalSettings]:
    """The stage and the settings whose results stand in a column: "rrf" is the stage "fused" by reciprocal rank."""
    more: dict[str, Any] = {"fusion": "rrf"} if column == "rrf" and _FUSIONS else {}
    return cast(Stage, "fused" if column == "rrf" else column), replace(settings, **more)


@dataclass(frozen=True, slots=True)
class Set:
    """Questions that are asked in one go. `files`: names of the files of questions. `commits`: of each repository at most so many. `group`:
    of ranked results, "" for one list of both. `documentation`: questions made of the repositories' own prose, among prose alone unless
    `all_files`; `quoted`: questions that quote the repositories' code. `own`: the files lie beside this module.
    """

    name: str
    files: tuple[str, ...]
    root: bool = False
    commits: int = 0
    documentation: bool = False
    group: Group = ""
    all_files: bool = False
    own: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """`tried`: what was reached before, in the words of the issue. `unit`: "" for a score of 0 to 1. `at_most`: less is better."""

    name: str
    set: str
    tried: str
    target: float | None
    value: Callable[[Summary], float] = lambda summary: summary.files.ndcg
    wanted: Callable[[Question], bool] = lambda question: True
    lines: bool = False
    measure: str = "ndcg"


def _both(
    name: str,
    of: str,
    tried: str,
    target: float,
    value: Callable[[Summary], float] = lambda summary: summary.files.ndcg,
    *,
    lines: bool = False,
    measure: str = "ndcg",
) -> tuple[Row, Row]:
    """In code's group, and in one list of both groups."""
    head, _, tail = name.partition(": ")
    tail = tail or "NDCG@10"
    code, both = (f"{head}, {where}: {tail}" for where in ("code's group", "one list"))
    more = Row(code, f"{of}-code", tried, target, value, lines=lines, measure=measure)
    return more, replace(more, name=both, set=of, tried="–")


SETS: tuple[Set, ...] = (
    Set("concept-root", ("concept",), root=True, group="code"),
    Set("concept", ("concept",)),
    Set("concept-code", ("concept",), group="code"),
    Set("change", ("change",), commits=3),
    Set("change-code", ("change",), commits=3, group="code"),
    Set("pinpoint", ("pinpoint",)),
    Set("pinpoint-code", ("pinpoint",), group="code"),
    Set("explain", ("explain",)),
    Set("explain-code", ("explain",), group="code"),
    Set("issue", ("issue",), commits=3),
    Set("issue-code", ("issue",), commits=3, group="code"),
    Set("documentation", ("concept",), documentation=True, group="prose"),
    Set("documentation-list", ("concept",), documentation=True, all_files=True),
    Set("setup", ("setup",), own=True),
    Set("quoted", ("concept",), quoted=True),
)
ROWS: tuple[Row, ...] = (
    Row("concept, index_root, code's group: NDCG@10", "concept-root", "0.914", 0.92),
    Row("concept, whole repository, code's group: NDCG@10", "concept-code", "0.90", 0.90),
    Row("concept, whole repository, one list: NDCG@10", "concept", "–", 0.90),
    *_both("change, whole repository", "change", "0.83", 0.83),
    *_both("pinpoint, whole repository: NDCG@10 of files", "pinpoint", "0.68", 0.74),
    *_both("pinpoint: recall@10 of lines", "pinpoint", "0.77", 0.82, lambda s: s.lines.recall, lines=True, measure="recall"),
    *_both("explain, main files", "explain", "0.70", 0.74),
    *_both("issue, whole repository", "issue", "0.77–0.90", 0.80),
    Row("documentation in its group, headings: NDCG@10", "documentation", "0.85", 0.86, wanted=lambda q: q.category == "heading"),
    Row("documentation in its group, sentences: NDCG@10", "documentation", "0.78", 0.80, wanted=lambda q: q.category == "sentence"),
    Row("documentation, one list: NDCG@10", "documentation-list", "0.43", None),
    Row("how it is set up, one list: NDCG@10", "setup", "0.56", 0.90, wanted=lambda q: q.category != "code"),
    Row("the same words about code, one list: NDCG@10", "setup", "0.87", None, wanted=lambda q: q.category == "code"),
    Row("error messages as they stand, one list: NDCG@10", "quoted", "–", None, wanted=lambda q: q.category == "message"),
    Row("keys that nothing defines, one list: NDCG@10", "quoted", "–", None, wanted=lambda q: q.category == "key"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of one stage; None where it has none."""

    stage: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Result:
    """A row as measured. `halves`: the final stage on the repositories of half a and of half b. `note`: on what. `unit`: "%", "ms"."""

    name: str
    cells: tuple[Cell, ...]
    tried: str
    target: float | None
    questions: int
    repositories: int
    interval: tuple[float, float] | None = None
    halves: tuple[float | None, float | None] = (None, None)
    at_most: bool = False
    unit: str = ""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """None where nothing was measured or asked for."""
        final = self.cells[-1].value if self.cells else None
        if final is None or self.target is None or not self.questions:
            return None
        return final <= self.target if self.at_most else final >= self.target


def fewer_commits(questions: Sequence[Question], most: int) -> list[Question]:
    """The questions of the first `most` commits of each repository; all for 0."""
    kept: dict[str, list[str]] = {}
    for question in questions:
        commits = kept.setdefault(question.repository, [])
        if question.commit not in commits and (not most or len(commits) < most):
            commits.append(question.commit)
    return [question for question in questions if question.commit in kept[question.repository]]
