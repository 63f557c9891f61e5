"""Evaluations in the log: read back as they were, found again by what they asked, bounded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from rag.answer_log import AnswerLog
from rag.answer_log.evaluations import KEPT_OUTCOMES, former, record, run_of, runs, scores_of
from rag.database import Database
from tests.log.samples import ASKED, SCORES, evaluation


async def test_a_run_is_read_back_as_it_was(database: Database) -> None:
    number = await database.write(lambda db: record(db, evaluation(), SCORES))
    expected = replace(evaluation(), id=number)
    assert await database.read(lambda db: run_of(db, number)) == expected
    assert await database.read(lambda db: runs(db, 10)) == [expected]
    assert await database.read(lambda db: scores_of(db, number)) == SCORES
    assert await database.read(lambda db: run_of(db, number + 1)) is None
    assert await database.read(lambda db: scores_of(db, number + 1)) == []


async def test_runs_come_oldest_first_and_the_last_ones_are_meant(database: Database) -> None:
    for ndcg in (0.1, 0.2, 0.3):
        await database.write(lambda db, ndcg=ndcg: record(db, evaluation(ndcg), []))  # type: ignore[misc]
    assert [run.means[0].ndcg for run in await database.read(lambda db: runs(db, 2))] == [0.2, 0.3]


async def test_the_former_run_asked_the_same_in_the_same_scope(database: Database) -> None:
    first = await database.write(lambda db: record(db, evaluation(), SCORES))
    other = evaluation(questions_hash="1" * 16)
    await database.write(lambda db: record(db, other, SCORES))
    await database.write(lambda db: record(db, evaluation(scope="index_root"), SCORES))
    last = await database.write(lambda db: record(db, evaluation(), SCORES))
    await database.write(lambda db: record(db, evaluation(), []))  # of which nothing can be compared
    assert await database.read(lambda db: former(db, evaluation())) == last
    assert await database.read(lambda db: former(db, replace(evaluation(), id=last))) == first
    assert await database.read(lambda db: former(db, replace(evaluation(), id=first))) == 0
    assert await database.read(lambda db: former(db, evaluation(dataset="change"))) == 0


async def test_single_questions_of_runs_long_past_go_and_their_means_stay(database: Database, log: AnswerLog) -> None:
    first = await database.write(lambda db: record(db, evaluation(), SCORES))
    for _ in range(KEPT_OUTCOMES):
        last = await database.write(lambda db: record(db, evaluation(), SCORES))
    assert await database.read(lambda db: scores_of(db, first)) == []
    assert await database.read(lambda db: scores_of(db, first + 1)) == SCORES
    assert len(await database.read(lambda db: runs(db, 1000))) == KEPT_OUTCOMES + 1
    await log.purge(ASKED + timedelta(days=1000))
    assert (await database.read(lambda db: run_of(db, first))) is not None
    assert await database.read(lambda db: scores_of(db, last)) == SCORES
