"""AnswerLog: the async door to the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import sqlite_utils

from rag.answer_log import reading, upkeep, writing
from rag.answer_log.records import AnswerSummary, BuildRecord, JobRun, LoggedAnswer, Purged
from rag.answer_log.times import utc_now
from rag.database import Database
from rag.types import Answer, Judgement, SearchResult, Turn


class AnswerLog:
    """Everything asked, retrieved, answered, cited, voted and judged, and every build and job run. Its database must have been opened
    with `rag.answer_log.MIGRATIONS` among its migrations. Every method may raise DatabaseError. Moments need a time zone.

    The methods ending in `_in` are plain functions to call inside `Database.write`, composed with other tables in one transaction.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def start(
        self,
        *,
        answer_id: str,
        question: str,
        repository: str,
        origin: str,
        asker: str = "",
        team: str = "",
        channel: str = "",
        thread: str = "",
        asked_at: datetime,
    ) -> None:
        """Writes the row of an accepted question, before anything of its answer is shown. A question that has its row keeps it."""
        await self._database.write(
            lambda db: writing.start(
                db,
                answer_id=answer_id,
                question=question,
                repository=repository,
                origin=origin,
                asker=asker,
                team=team,
                channel=channel,
                thread=thread,
                asked_at=asked_at,
            )
        )

    def complete_in(
        self,
        db: sqlite_utils.Database,
        answer: Answer,
        results: Sequence[SearchResult],
        *,
        candidates: Mapping[str, int] | None = None,
        retrieval_seconds: Mapping[str, float] | None = None,
    ) -> None:
        """Completes a started question: its answer, all that was retrieved, its citations and the seconds of each stage (those of
        the answer win over `retrieval_seconds` where both name a stage).

        Raises: DatabaseError where the question was never started or has its answer already.
        """
        writing.complete(
            db, answer, results, candidates=candidates or {}, retrieval_seconds=retrieval_seconds or {}, finished_at=self._clock()
        )

    async def complete(
        self,
        answer: Answer,
        results: Sequence[SearchResult],
        *,
        candidates: Mapping[str, int] | None = None,
        retrieval_seconds: Mapping[str, float] | None = None,
    ) -> None:
        """`complete_in`, in a transaction of its own."""
        await self._database.write(
            lambda db: self.complete_in(db, answer, results, candidates=candidates, retrieval_seconds=retrieval_seconds)
        )

    def fail_in(self, db: sqlite_utils.Database, answer_id: str, error_kind: str, reference: str) -> None:
        """Says that a question got a message instead of an answer. Does nothing to one that has its answer."""
        writing.fail(db, answer_id, error_kind, reference, self._clock())

    async def fail(self, answer_id: str, error_kind: str, reference: str) -> None:
        """`fail_in`, in a transaction of its own."""
        await self._database.write(lambda db: self.fail_in(db, answer_id, error_kind, reference))

    async def vote(self, *, answer_id: str, voter: str, value: Literal[1, -1], reason: str = "", voted_at: datetime) -> bool:
        """One vote a person and answer, the last one counts (by `voted_at`). False for an unknown answer."""
        return await self._database.write(
            lambda db: writing.vote(db, answer_id=answer_id, voter=voter, value=value, reason=reason, voted_at=voted_at)
        )

    async def retract_vote(self, *, answer_id: str, voter: str, value: Literal[1, -1], retracted_at: datetime) -> bool:
        """Takes a vote back, as when somebody removes a reaction; a different or later vote stays. False where there was none such."""
        return await self._database.write(
            lambda db: writing.retract_vote(db, answer_id=answer_id, voter=voter, value=value, retracted_at=retracted_at)
        )

    async def recent(self, limit: int = 20, repository: str = "") -> list[AnswerSummary]:
        """The latest questions, newest first; `repository` "" for all."""
        return await self._database.read(lambda db: reading.recent(db, limit, repository))

    async def get(self, answer_id: str) -> LoggedAnswer | None:
        """All that is known of one answer; None for an unknown id."""
        return await self._database.read(lambda db: reading.get(db, answer_id))

    async def turns(self, *, team: str = "", channel: str = "", thread: str, repository: str, limit: int = 5) -> list[Turn]:
        """The last answered questions of a conversation about this repository, oldest first. Turns about another repository are left
        out: who may hear about one may not be allowed to hear about the other."""
        return await self._database.read(
            lambda db: reading.turns(db, team=team, channel=channel, thread=thread, repository=repository, limit=limit)
        )

    async def sample(self, share: float, since: datetime, judge: str) -> list[LoggedAnswer]:
        """The answers asked since a moment that the sample of this share (0–1) holds and this judge has not judged, oldest first. Which
        ones is decided by the hash of the id: a larger share holds all of a smaller one. What cites nothing, as an abstention does,
        cannot be judged and is left out."""
        return await self._database.read(lambda db: reading.sample(db, share, since, judge))

    async def add_judgement(self, judgement: Judgement) -> None:
        """Stores it; one by the same judge for the same answer is replaced. Raises: DatabaseError for an unknown answer."""
        await self._database.write(lambda db: writing.judge(db, judgement, self._clock()))

    async def faithfulness(self, judge: str, limit: int) -> list[float]:
        """The scores of the last `limit` answers that this judge judged, in the order they were asked."""
        return await self._database.read(lambda db: reading.faithfulness(db, judge, limit))

    async def record_build(self, build: BuildRecord) -> None:
        await self._database.write(lambda db: upkeep.record_build(db, build))

    async def last_build(self, repository: str, *, good: bool = False) -> BuildRecord | None:
        """The latest build of a repository; with `good`, the latest that did not fail."""
        return await self._database.read(lambda db: upkeep.last_build(db, repository, good))

    async def record_run(self, run: JobRun) -> None:
        await self._database.write(lambda db: upkeep.record_run(db, run))

    async def last_runs(self) -> dict[str, JobRun]:
        """The latest run of each job, by its name."""
        return await self._database.read(upkeep.last_runs)

    async def purge(self, before: datetime) -> Purged:
        """Deletes what was asked, built and run before a moment, from the file and from its write-ahead log."""
        purged = await self._database.write(lambda db: upkeep.purge(db, before))
        await self._database.checkpoint()
        return purged

    async def forget(self, person: str) -> Purged:
        """Deletes all that one person asked and voted, from the file and from its write-ahead log."""
        purged = await self._database.write(lambda db: upkeep.forget(db, person))
        await self._database.checkpoint()
        return purged
