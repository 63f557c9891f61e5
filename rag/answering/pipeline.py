"""The one path of a question, for Slack and the command line: log, retrieve, answer, log.

The log's row stands before anything is retrieved or shown, and is completed in one transaction with whatever the caller has to finish, so
that nothing shown is unlogged and no failure goes unseen.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import sqlite_utils

from rag.answer_log import AnswerLog
from rag.answering.answerer import Answerer
from rag.answering.who import Known, known_of
from rag.answering.who_answer import who_answer
from rag.answering.who_question import topic_of
from rag.database import Database
from rag.errors import FootnoteError
from rag.index.generation import Indexes
from rag.retrieval.query import message_of
from rag.retrieval.query_filters import Group
from rag.retrieval.retriever import Retriever
from rag.source.redaction import redact
from rag.types import Answer, AnswerPiece, Filters, Repository, Retrieval, Turn

log = logging.getLogger(__name__)

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: in ASCII order, nothing that reads like another
_FOR_PEOPLE = 20  # results: so that there are files enough to have authors


def utc_now() -> datetime:
    return datetime.now(UTC)


def new_answer_id(now: datetime) -> str:
    """16 characters, safe in URLs, in the order of time: 10 for milliseconds since 1970, 6 (30 bits) at random."""
    number = (int(now.timestamp() * 1000) << 30) | secrets.randbits(30)
    return "".join(_DIGITS[(number >> shift) & 31] for shift in range(75, -1, -5))


@dataclass(frozen=True, slots=True)
class Question:
    """A question on its way. `origin`: "slack", "cli", …; `answer_id`: "" to have one made, or the one of a question that is resumed."""

    text: str
    repository: Repository
    origin: str
    asker: str = ""
    team: str = ""
    channel: str = ""
    thread: str = ""
    history: tuple[Turn, ...] = ()
    answer_id: str = ""
    filters: Filters = field(default_factory=Filters)
    limit: int | None = None


class Pipeline:
    """Everything it needs is handed in open; it closes nothing. `database` is the one that `answer_log` writes to."""

    def __init__(
        self,
        indexes: Indexes,
        retriever: Retriever,
        answerer: Answerer,
        answer_log: AnswerLog,
        database: Database,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._indexes = indexes
        self._retriever = retriever
        self._answerer = answerer
        self._log = answer_log
        self._database = database
        self._clock = clock

    async def ask(
        self, question: Question, finish: Callable[[sqlite_utils.Database, Answer], None] | None = None
    ) -> AsyncGenerator[AnswerPiece | Answer, None]:
        """Pieces as they are written, then the Answer, which by then is in the log. `finish` runs in the transaction that completes it.

        Raises: FootnoteError, whose `reference` is in the log with the failure. Cancelled or not read to its end, the question stays
        open in the log, to be asked again under the same id.
        """
        text = redact(question.text)[0].strip()
        if not text:
            raise FootnoteError("The question is empty.", "Ask about the repository in a sentence.")
        started = time.monotonic()
        answer_id = question.answer_id or new_answer_id(self._clock())
        await self._log.start(
            answer_id=answer_id,
            question=text,
            repository=question.repository.name,
            origin=question.origin,
            asker=question.asker,
            team=question.team,
            channel=question.channel,
            thread=question.thread,
            asked_at=self._clock(),
        )
        try:
            if topic := topic_of(message_of(text).asked):
                pieces, retrieval, answer = await self._people(text, topic, question, answer_id, started)
                for piece in pieces:
                    yield piece
                await self._complete(answer, retrieval, finish)
                _report(answer, retrieval)
                yield answer
                return
            retrieval = await self.search(text, question.repository, limit=question.limit, filters=question.filters)
            stream = self._answerer.answer(text, retrieval, question.repository, answer_id=answer_id, history=question.history)
            async with aclosing(stream):
                async for item in stream:
                    if isinstance(item, AnswerPiece):
                        yield item
                        continue
                    answer = replace(item, seconds={**item.seconds, "total": time.monotonic() - started})
                    await self._complete(answer, retrieval, finish)
                    _report(answer, retrieval)
                    yield answer
        except FootnoteError as error:
            await self._failed(answer_id, error)
            error.reference = answer_id
            raise
        except Exception as error:
            await self._failed(answer_id, error)
            wrapped = FootnoteError(
                f"The question could not be answered: unexpected {type(error).__name__}.", f"Look for {answer_id} in the program's log."
            )
            wrapped.reference = answer_id
            raise wrapped from error

    async def search(
        self,
        text: str,
        repository: Repository,
        *,
        limit: int | None = None,
        filters: Filters = Filters(),
        min_score: float | None = None,
        explain: bool = False,
        group: Group = "",
    ) -> Retrieval:
        """Retrieval alone, unlogged. `group`: "code" or "prose" for one of the two alone.

        Raises: NotIndexed, IndexMismatch, IndexCorrupt, RetrievalError.
        """
        started = time.monotonic()
        index = self._indexes.for_name(repository.name)
        async with index.opened() as generation:
            opened = time.monotonic() - started
            retrieval = await self._retriever.retrieve(
                text, generation, repository, limit=limit, filters=filters, min_score=min_score, explain=explain, group=group
            )
        return replace(retrieval, seconds={"open": opened, **retrieval.seconds})

    async def _people(
        self, text: str, topic: str, question: Question, answer_id: str, started: float
    ) -> tuple[list[AnswerPiece], Retrieval, Answer]:
        """The answer to who knows about `topic`: what is found for it, then who changed that. Raises: as `search`."""
        repository = question.repository
        async with self._indexes.for_name(repository.name).opened() as generation:
            retrieval = await self._retriever.retrieve(topic, generation, repository, limit=_FOR_PEOPLE, filters=question.filters)
            known: Known = await asyncio.to_thread(known_of, retrieval, generation, repository)
        seconds = {**retrieval.seconds, "total": time.monotonic() - started}
        return who_answer(text, retrieval, known, answer_id=answer_id, seconds=seconds)

    async def _complete(self, answer: Answer, retrieval: Retrieval, finish: Callable[[sqlite_utils.Database, Answer], None] | None) -> None:
        def both(db: sqlite_utils.Database) -> None:
            self._log.complete_in(db, answer, retrieval.results, candidates=retrieval.candidates)
            if finish:
                finish(db, answer)

        await self._database.write(both)

    async def _failed(self, answer_id: str, error: Exception) -> None:
        """Has the failure logged; the id of the answer is its reference. What is not ours goes to the program's log with its trace."""
        kind = type(error).__name__
        log.error("answer %s failed with %s", answer_id, kind, exc_info=None if isinstance(error, FootnoteError) else error)
        try:
            await self._log.fail(answer_id, kind, answer_id)
        except FootnoteError as unlogged:
            log.error("answer %s: its failure could not be logged: %s", answer_id, unlogged.problem)


def _report(answer: Answer, retrieval: Retrieval) -> None:
    """One line an answer: no question, no code."""
    log.info(
        "answer %s repository=%s generator=%s abstained=%s results=%d citations=%d dropped=%d ungrounded=%d notices=%d "
        "tokens=%d+%d seconds: %s",
        answer.id,
        answer.repository,
        answer.generator,
        answer.abstained,
        len(retrieval.results),
        len(answer.citations),
        answer.dropped_citations,
        len(answer.ungrounded),
        len(answer.notices),
        answer.prompt_tokens,
        answer.completion_tokens,
        _timings(answer.seconds),
    )


def _timings(seconds: Mapping[str, float]) -> str:
    return " ".join(f"{stage}={took:.3f}" for stage, took in seconds.items())
