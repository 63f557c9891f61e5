"""Labelled questions: one JSON object a line.

{"dataset", "id", "repo": "owner/name", "commit": full SHA, "language", "query",
 "relevant": [{"path", "start_line"?, "end_line"?, "grade": 2 main | 1 secondary}],
 "index_root"?: the folder that published figures index, "category"?, "title"?, "answer"?,
 "blank"?: [{"path", "start_line", "end_line"}] the lines that the question's words were taken from}

Keys that are not listed are ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from rag.errors import EvaluationError

_Text = Annotated[str, StringConstraints(min_length=1)]


@dataclass(frozen=True, slots=True)
class Label:
    """What answers a question: a file, or 1-based inclusive lines of it; both lines are None where the file as a whole is meant."""

    path: str
    start_line: int | None = None
    end_line: int | None = None
    grade: int = 2


@dataclass(frozen=True, slots=True)
class Question:
    """`repository`: "owner/name". `index_root`: the folder that published figures index, "" for all of it. `category`: its kind.
    `blank`: the lines that its words were taken from, see rag.evaluation.blanking."""

    id: str
    dataset: str
    repository: str
    commit: str
    language: str
    text: str
    relevant: tuple[Label, ...]
    index_root: str = ""
    category: str = ""
    blank: tuple[Label, ...] = ()


class _Relevant(BaseModel):
    path: _Text
    start_line: int | None = Field(None, ge=1)
    end_line: int | None = Field(None, ge=1)
    grade: int = 2

    @model_validator(mode="after")
    def _whole(self) -> _Relevant:
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("start_line and end_line come together")
        return self


class _Lines(BaseModel):
    path: _Text
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)


class _Row(BaseModel):
    id: _Text
    dataset: str = ""
    repo: _Text
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    language: str = ""
    query: _Text
    relevant: list[_Relevant] = Field(min_length=1)
    index_root: str | None = None
    category: str | None = None
    blank: list[_Lines] = Field(default_factory=list)


def read_all(paths: Sequence[Path]) -> list[Question]:
    """The questions of several files, in order. A question without a data set belongs to the one that its file's name says.

    Raises: EvaluationError, also for an id that stands in two of them: rankings and the log know a question by it.
    """
    questions: list[Question] = []
    places: dict[str, Path] = {}
    for path in paths:
        for question in read_questions(path):
            if question.id in places:
                raise EvaluationError(
                    f"The id {question.id!r} is in {places[question.id]} and in {path}.", "Every question needs an id of its own."
                )
            places[question.id] = path
            questions.append(question)
    return questions


def questions_hash(questions: Iterable[Question]) -> str:
    """16 hexadecimal digits, the same for the same questions with the same labels in any order: runs over them compare."""
    rows = sorted(
        json.dumps([q.id, q.repository, q.commit, q.index_root, q.text, [(x.path, x.start_line, x.end_line) for x in q.relevant]])
        for q in questions
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


def in_half(repository: str, half: str) -> bool:
    """Whether a repository lies in half "a" or "b" of all there are, by the hash of its name: choose on one, report the other."""
    return ("a", "b")[hashlib.sha256(repository.lower().encode()).digest()[0] % 2] == half


def read_questions(path: Path) -> list[Question]:
    """All questions of a file, in its order. Raises: EvaluationError, naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(
            f"{path} cannot be read: {type(error).__name__}.", "Give a file of questions, one JSON object a line."
        ) from error
    questions: list[Question] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = _Row.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise EvaluationError(
                f"{path}, line {number}: {place + ': ' if place else ''}{first['msg']}.", "docs/retrieval.md describes the format."
            ) from None
        if row.id in seen:
            raise EvaluationError(f"{path}, line {number}: the id {row.id!r} is there twice.", "Every question needs an id of its own.")
        seen.add(row.id)
        questions.append(_question(row, path.stem))
    if not questions:
        raise EvaluationError(f"{path} holds no question.", "Give a file of questions, one JSON object a line.")
    return questions


def _question(row: _Row, name: str) -> Question:
    return Question(
        id=row.id,
        dataset=row.dataset or name,
        repository=row.repo,
        commit=row.commit,
        language=row.language,
        text=row.query,
        relevant=tuple(Label(label.path, label.start_line, label.end_line, label.grade) for label in row.relevant),
        index_root=(row.index_root or "").strip("/"),
        category=row.category or "",
        blank=tuple(Label(one.path, one.start_line, one.end_line) for one in row.blank),
    )
