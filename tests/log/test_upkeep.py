"""Builds, job runs, retention, and forgetting a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from rag.answer_log import MIGRATIONS, AnswerLog, BuildRecord, JobRun, reason_of
from rag.database import Database
from rag.errors import CloneFailed
from rag.types import Chunk, Judgement, Kind, SearchResult
from tests.log.samples import ASKED, COMMIT, RESULTS, answer, ask

LATER = ASKED + timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Outcome:
    repository: str = "demo"
    commit: str = COMMIT
    branch: str = "main"
    generation: str = "g1"
    documents: int = 4
    chunks: int = 9
    embedded: int = 2
    reused: int = 7
    unchanged: bool = False
    skipped: dict[str, int] = field(default_factory=lambda: {"binary": 3})
    fallbacks: dict[str, int] = field(default_factory=lambda: {"timeout": 1})
    seconds: dict[str, float] = field(default_factory=lambda: {"clone": 1.5})
    peak_memory_bytes: int = 123_456_789_012


async def test_builds_come_back_whole_and_the_last_good_one_is_known(log: AnswerLog) -> None:
    assert await log.last_build("demo") is None
    good = BuildRecord.succeeded(Outcome(), cause="nightly", started_at=ASKED, finished_at=LATER)
    await log.record_build(good)
    assert await log.last_build("demo") == good
    error = CloneFailed("https://x cannot be cloned.", "Check the address.")
    bad = BuildRecord.failed("demo", error, cause="nightly", started_at=LATER, finished_at=LATER)
    await log.record_build(bad)
    assert await log.last_build("demo") == bad
    assert (bad.error_kind, bad.error) == ("CloneFailed", "https://x cannot be cloned. Check the address.")
    assert await log.last_build("demo", good=True) == good
    assert await log.last_build("other") is None


def test_the_words_of_a_foreign_error_are_not_kept() -> None:
    reason = reason_of(ValueError("token xoxb-secret"))
    assert "ValueError" in reason
    assert "secret" not in reason


async def test_the_last_run_of_each_job(log: AnswerLog) -> None:
    first = JobRun("nightly", ASKED, LATER, False, "demo: refused", {"failed": 1})
    second = JobRun("nightly", LATER, LATER, True, "", {"built": 2, "failed": 0})
    other = JobRun("judging", ASKED, LATER, True)
    for run in (first, other, second):
        await log.record_run(run)
    assert await log.last_runs() == {"nightly": second, "judging": other}


def _canary(word: str) -> tuple[SearchResult, ...]:
    return (SearchResult(1, Chunk("c.py", 1, 1, Kind.LINES, "python", word), 1.0, {}, ""),)


async def test_a_purge_deletes_what_is_old_and_all_that_hangs_on_it(log: AnswerLog, database: Database) -> None:
    day = timedelta(days=1)
    for answer_id, asked_at, results in (("old", ASKED - 2 * day, (*RESULTS[:1],)), ("new", ASKED, (*RESULTS,))):
        await ask(log, answer_id, asked_at=asked_at)
        await log.complete(answer(answer_id), results)
        await log.vote(answer_id=answer_id, voter="U1", value=1, voted_at=asked_at)
        await log.add_judgement(Judgement(answer_id, 1.0, 1, 1, (), "j@1"))
    await ask(log, "older", asked_at=ASKED - 3 * day)
    await log.complete(answer("older", citations=()), _canary("old words"))
    for when in (ASKED - 5 * day, ASKED - 4 * day):
        await log.record_build(BuildRecord.succeeded(Outcome(), cause="nightly", started_at=when, finished_at=when))
        await log.record_build(BuildRecord.failed("demo", ValueError(), cause="nightly", started_at=when, finished_at=when))
        await log.record_run(JobRun("nightly", when, when, True))

    purged = await log.purge(ASKED - day)
    assert (purged.answers, purged.chunks, purged.builds, purged.runs) == (2, 1, 3, 1)
    tables = ("answers", "stages", "results", "chunks", "citations", "votes", "judgements", "builds", "runs")
    counts = await database.read(lambda db: {table: db[table].count for table in tables})
    assert counts == {
        "answers": 1,
        "stages": 2,
        "results": 2,
        "chunks": 2,
        "citations": 1,
        "votes": 1,
        "judgements": 1,
        "builds": 1,  # the last good one says how old the index is
        "runs": 1,
    }
    kept = await log.get("new")
    assert kept is not None
    assert kept.results == RESULTS
    again = await log.purge(ASKED - day)
    assert (again.answers, again.chunks, again.builds, again.runs) == (0, 0, 0, 0)


def _bytes(directory: Path) -> bytes:
    return b"".join(file.read_bytes() for file in directory.iterdir())


async def test_purged_words_are_in_no_byte_of_the_files(path: Path) -> None:
    async with Database(path, MIGRATIONS) as database:
        log = AnswerLog(database)
        await ask(log, "old", question="canary-question", asked_at=ASKED - timedelta(days=100))
        await log.complete(answer("old", text="canary-answer " * 1000, citations=()), _canary("canary-chunk"))
        await ask(log, "new", question="kept-question")
        assert b"canary-" in _bytes(path.parent)
        await log.purge(ASKED)
        assert b"canary-" not in _bytes(path.parent)
        assert b"kept-question" in _bytes(path.parent)


async def test_forgetting_a_person_leaves_the_others(log: AnswerLog, path: Path) -> None:
    await ask(log, "hers", asker="U-her", question="canary-question")
    await log.complete(answer("hers"), RESULTS)
    await ask(log, "his", asker="U-him")
    await log.complete(answer("his"), RESULTS)
    for voter in ("U-her", "U-him"):
        await log.vote(answer_id="his", voter=voter, value=1, voted_at=ASKED)
    assert (await log.forget("U-her")).answers == 1
    assert await log.get("hers") is None
    his = await log.get("his")
    assert his is not None
    assert [vote.voter for vote in his.votes] == ["U-him"]
    assert his.results == RESULTS
    content = _bytes(path.parent)
    assert b"canary-question" not in content
    assert b"U-her" not in content
