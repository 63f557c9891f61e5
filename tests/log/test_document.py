"""The page about the tables agrees with the tables, and its examples run."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlite_utils

from rag.answer_log import AnswerLog, BuildRecord, JobRun
from rag.answer_log.document import EXAMPLES, describe, page
from rag.answer_log.evaluations import record
from rag.database import Database
from rag.errors import CloneFailed
from rag.types import Judgement
from tests.log.samples import ASKED, RESULTS, SCORES, answer, ask, evaluation
from tests.log.test_upkeep import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "answer-log.md"


def test_the_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text() == page(), "run: python -m rag.answer_log.document > docs/answer-log.md"


async def test_every_table_and_column_is_described(database: Database) -> None:
    def undescribed(db: sqlite_utils.Database) -> list[str]:
        described = {(table.name, column) for table in describe(db) for column, _, comment in table.columns if comment and table.purpose}
        return [
            f"{table.name}.{column.name}" for table in db.tables for column in table.columns if (table.name, column.name) not in described
        ]

    assert await database.read(undescribed) == []
    assert await database.read(lambda db: len(db.tables)) >= 9


@pytest.mark.parametrize(("title", "sql"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
async def test_an_example_runs_and_finds_something(log: AnswerLog, database: Database, title: str, sql: str) -> None:
    await ask(log)
    await log.complete(answer(), RESULTS)
    await log.vote(answer_id="a1", voter="U1", value=-1, voted_at=ASKED)
    await log.add_judgement(Judgement("a1", 0.5, 2, 1, (), "j@1"))
    later = ASKED + timedelta(seconds=1)
    error = CloneFailed("It failed.")
    await log.record_build(BuildRecord.failed("demo", error, cause="nightly", started_at=ASKED, finished_at=later))
    await log.record_build(BuildRecord.succeeded(Outcome(), cause="nightly", started_at=ASKED, finished_at=later))
    await log.record_run(JobRun("nightly", ASKED, later, False, "demo: It failed."))
    await database.write(lambda db: record(db, evaluation(), SCORES))
    rows = await database.read(lambda db: list(db.query(sql.rstrip(";"))))
    assert rows
    if "rank" in rows[0]:
        assert [row["bm25"] for row in rows] == [7.25, -0.25]
        assert [row["dense_rank"] for row in rows] == [3, None]
