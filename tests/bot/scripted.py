"""A scripted stand-in for rag.answering.pipeline.Pipeline: it logs as the real one does, and says what a test told it to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import sqlite_utils

from rag.answer_log import AnswerLog
from rag.answering.pipeline import Question
from rag.database import Database
from rag.types import Answer, AnswerPiece, Chunk, Citation, GenerationInfo, Kind, Repository, SearchResult

BUILT = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def repository(name: str = "flask", *, audience: tuple[str, ...] = ("*",)) -> Repository:
    return Repository(name=name, source=f"https://github.com/example/{name}", audience=audience)


def index(name: str = "flask", *, dense_ready: bool = True) -> GenerationInfo:
    return GenerationInfo(name, "g1", COMMIT, "main", BUILT, 10, 100, dense_ready)


def citation(
    number: int = 1, path: str = "src/app.py", permalink: str = "https://github.com/example/flask/blob/0123/src/app.py#L10-L20"
) -> Citation:
    return Citation(number, path, 10, 20, COMMIT, permalink, f"{number:016x}")


def answer(answer_id: str = "a1", text: str = "Routes are registered by `add_url_rule`.[1]\n", **changes: object) -> Answer:
    values: dict[str, object] = {
        "id": answer_id,
        "question": "How?",
        "repository": "flask",
        "text": text,
        "abstained": False,
        "citations": (citation(),),
        "generator": "extractive",
        "index": index(),
        "seconds": {"total": 0.1},
        **changes,
    }
    return Answer(**values)  # type: ignore[arg-type]


@dataclass
class Script:
    """`pieces` are yielded with `pause` seconds between them; then the answer, or `error` is raised. `gate`: awaited after the first."""

    pieces: Sequence[str] = ("Routes are registered by `add_url_rule`.[1]\n",)
    error: Exception | None = None
    pause: float = 0.0
    gate: asyncio.Event | None = None
    changes: dict[str, object] = field(default_factory=dict)


class ScriptedPipeline:
    """`asked`: every question. `scripts`: one a question, the last one for all that follow."""

    def __init__(self, database: Database, log: AnswerLog, *scripts: Script) -> None:
        self._database = database
        self._log = log
        self.scripts = list(scripts) or [Script()]
        self.asked: list[Question] = []

    async def ask(
        self, question: Question, finish: Callable[[sqlite_utils.Database, Answer], None] | None = None
    ) -> AsyncGenerator[AnswerPiece | Answer, None]:
        script = self.scripts[min(len(self.asked), len(self.scripts) - 1)]
        self.asked.append(question)
        await self._log.start(
            answer_id=question.answer_id,
            question=question.text,
            repository=question.repository.name,
            origin=question.origin,
            asker=question.asker,
            team=question.team,
            channel=question.channel,
            thread=question.thread,
            asked_at=datetime.now(UTC),
        )
        for number, piece in enumerate(script.pieces):
            yield AnswerPiece(piece, ())
            if script.pause:
                await asyncio.sleep(script.pause)
            if number == 0 and script.gate is not None:
                await script.gate.wait()
        if script.error is not None:
            raise script.error
        changes = {"repository": question.repository.name, "index": index(question.repository.name), **script.changes}
        done = answer(question.answer_id, "".join(script.pieces), question=question.text, **changes)
        chunk = Chunk("src/app.py", 10, 20, Kind.FUNCTION, "python", "def add_url_rule(): ...", symbol="add_url_rule")
        results = (SearchResult(1, chunk, 0.5, {"fused": 0.5}, ""),)

        def both(db: sqlite_utils.Database) -> None:
            self._log.complete_in(db, done, results)
            if finish:
                finish(db, done)

        await self._database.write(both)
        yield done
