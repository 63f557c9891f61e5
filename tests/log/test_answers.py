"""A question in the log from its acceptance to its votes and judgements."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlite_utils
from hypothesis import given
from hypothesis import strategies as st

from rag.answer_log import AnswerLog
from rag.answer_log.writing import sample_point
from rag.database import Database
from rag.errors import DatabaseError
from rag.types import Judgement, Turn
from tests.log.conftest import NOW
from tests.log.samples import ASKED, COMMIT, RESULTS, answer, ask


async def test_everything_comes_back(log: AnswerLog) -> None:
    await ask(log)
    await log.complete(answer(), RESULTS, candidates={"sparse": 100, "dense": 99}, retrieval_seconds={"embed": 0.004, "sparse": 9.0})
    assert await log.vote(answer_id="a1", voter="U2", value=-1, reason="wrong file", voted_at=ASKED)
    judgement = Judgement("a1", 0.5, 2, 1, ("the second is made up",), "groq/x@1")
    await log.add_judgement(judgement)

    logged = await log.get("a1")
    assert logged is not None
    expected = answer()
    assert (logged.question, logged.repository, logged.origin, logged.asker) == ("What does a do?", "demo", "slack", "U1")
    assert (logged.team, logged.channel, logged.thread, logged.asked_at) == ("T1", "C1", "1.0", ASKED)
    assert (logged.state, logged.finished_at, logged.text, logged.abstained) == ("answered", NOW, expected.text, False)
    assert (logged.generator, logged.generation, logged.commit, logged.branch) == ("extractive", "g1", COMMIT, "main")
    assert (logged.built_at, logged.dense_ready) == (expected.index.built_at, True)
    assert (logged.dropped_citations, logged.ungrounded, logged.notices) == (2, expected.ungrounded, expected.notices)
    assert (logged.candidates, logged.prompt_tokens, logged.completion_tokens) == ({"sparse": 100, "dense": 99}, 100, 20)
    assert logged.seconds == {"embed": 0.004, "sparse": 0.002, "generate": 0.5}
    assert logged.results == RESULTS
    assert logged.citations == expected.citations
    assert logged.cited == {1: RESULTS[0]}
    assert [(vote.voter, vote.value, vote.reason, vote.voted_at) for vote in logged.votes] == [("U2", -1, "wrong file", ASKED)]
    assert logged.judgements == (judgement,)


async def test_an_unknown_answer_is_none(log: AnswerLog) -> None:
    assert await log.get("nobody") is None


async def test_a_question_is_in_the_log_before_it_is_answered_and_a_second_start_keeps_its_row(log: AnswerLog) -> None:
    await ask(log)
    await ask(log, question="asked again after a crash", asked_at=ASKED + timedelta(hours=1))
    logged = await log.get("a1")
    assert logged is not None
    assert (logged.question, logged.asked_at, logged.state, logged.finished_at) == ("What does a do?", ASKED, "asked", None)
    assert (logged.text, logged.results, logged.citations) == ("", (), ())


async def test_a_question_is_completed_once(log: AnswerLog) -> None:
    with pytest.raises(DatabaseError, match="a1 is not open"):
        await log.complete(answer(), RESULTS)
    await ask(log)
    await log.complete(answer(), RESULTS)
    with pytest.raises(DatabaseError, match="a1 is not open"):
        await log.complete(answer(text="another"), ())
    await log.fail("a1", "SlackError", "ref")
    logged = await log.get("a1")
    assert logged is not None
    assert (logged.state, logged.text, logged.error_kind) == ("answered", "It does a. [1]", "")


async def test_a_failed_question_may_still_be_answered(log: AnswerLog) -> None:
    await ask(log)
    await log.fail("a1", "GeneratorBusy", "ref-7")
    failed = await log.get("a1")
    assert failed is not None
    assert (failed.state, failed.error_kind, failed.reference, failed.finished_at) == ("failed", "GeneratorBusy", "ref-7", NOW)
    await log.complete(answer(), RESULTS)
    logged = await log.get("a1")
    assert logged is not None
    assert (logged.state, logged.error_kind, logged.reference) == ("answered", "", "")


async def test_completion_shares_the_fate_of_the_callers_transaction(log: AnswerLog, database: Database) -> None:
    await ask(log)

    def half(db: sqlite_utils.Database) -> None:
        log.complete_in(db, answer(), RESULTS)
        raise RuntimeError("the caller's own table refused")

    with pytest.raises(RuntimeError):
        await database.write(half)
    logged = await log.get("a1")
    assert logged is not None
    assert (logged.state, logged.results, logged.seconds) == ("asked", (), {})


async def test_a_chunk_found_twice_is_kept_once(log: AnswerLog, database: Database) -> None:
    for answer_id in ("a1", "a2"):
        await ask(log, answer_id)
        await log.complete(answer(answer_id), RESULTS)
    assert await database.read(lambda db: (db["chunks"].count, db["results"].count)) == (2, 4)


async def test_recent_is_newest_first_and_counts(log: AnswerLog) -> None:
    await ask(log, "a1")
    await ask(log, "a2", asked_at=ASKED + timedelta(seconds=1), repository="other")
    await log.complete(answer("a1"), RESULTS)
    for voter, value in (("U1", 1), ("U2", 1), ("U3", -1)):
        await log.vote(answer_id="a1", voter=voter, value=value, voted_at=ASKED)  # type: ignore[arg-type]
    await log.add_judgement(Judgement("a1", 0.75, 4, 3, (), "j@1"))
    newest, oldest = await log.recent()
    assert (newest.id, newest.state, newest.seconds, newest.faithfulness, newest.citations) == ("a2", "asked", None, None, 0)
    assert (oldest.id, oldest.state, oldest.citations, oldest.up, oldest.down, oldest.faithfulness) == ("a1", "answered", 1, 2, 1, 0.75)
    assert oldest.seconds == pytest.approx((NOW - ASKED).total_seconds())
    assert [summary.id for summary in await log.recent(1)] == ["a2"]
    assert [summary.id for summary in await log.recent(repository="demo")] == ["a1"]


async def test_one_vote_a_person_the_last_click_counts_whenever_it_arrives(log: AnswerLog) -> None:
    await ask(log)
    second, first = ASKED + timedelta(seconds=9), ASKED
    assert await log.vote(answer_id="a1", voter="U2", value=-1, voted_at=second)
    assert await log.vote(answer_id="a1", voter="U2", value=1, voted_at=first)
    for _ in range(100):
        assert await log.vote(answer_id="a1", voter="U2", value=-1, reason="still", voted_at=second)
    logged = await log.get("a1")
    assert logged is not None
    assert [(vote.value, vote.reason) for vote in logged.votes] == [(-1, "still")]


async def test_a_vote_for_an_unknown_answer_is_refused(log: AnswerLog, database: Database) -> None:
    assert not await log.vote(answer_id="nobody", voter="U2", value=1, voted_at=ASKED)
    assert await database.read(lambda db: db["votes"].count) == 0


async def test_turns_are_of_this_conversation_and_this_repository_only(log: AnswerLog) -> None:
    for number in range(4):
        await ask(log, f"a{number}", question=f"q{number}", asked_at=ASKED + timedelta(seconds=number))
        await log.complete(answer(f"a{number}", text=f"t{number}"), ())
    for answer_id, elsewhere in (
        ("b1", {"repository": "secret"}),
        ("b2", {"channel": "C2"}),
        ("b3", {"thread": "2.0"}),
        ("b4", {"team": "T2"}),
    ):
        await ask(log, answer_id, asked_at=ASKED + timedelta(hours=1), **elsewhere)
        await log.complete(answer(answer_id, text="leak"), ())
    await ask(log, "open", asked_at=ASKED + timedelta(hours=2))
    turns = await log.turns(team="T1", channel="C1", thread="1.0", repository="demo", limit=3)
    assert turns == [Turn("q1", "t1"), Turn("q2", "t2"), Turn("q3", "t3")]
    assert await log.turns(thread="", repository="demo") == []


async def test_the_sample_is_decided_by_the_id_and_not_judged_twice(log: AnswerLog) -> None:
    ids = [f"answer-{number}" for number in range(200)]
    for answer_id in ids:
        await ask(log, answer_id)
        await log.complete(answer(answer_id), RESULTS)
    await ask(log, "abstained")
    await log.complete(answer("abstained", abstained=True), ())
    await ask(log, "uncited")
    await log.complete(answer("uncited", citations=()), RESULTS)
    await ask(log, "unanswered")

    fifth = await log.sample(0.2, ASKED, "j@1")
    assert {one.id for one in fifth} == {answer_id for answer_id in ids if sample_point(answer_id) < 0.2}
    assert 20 <= len(fifth) <= 60
    assert fifth[0].cited == {1: RESULTS[0]}
    assert {one.id for one in fifth} < {one.id for one in await log.sample(0.5, ASKED, "j@1")}
    assert {one.id for one in await log.sample(1.0, ASKED, "j@1")} == set(ids)
    assert await log.sample(0.0, ASKED, "j@1") == []
    assert await log.sample(1.0, ASKED + timedelta(seconds=1), "j@1") == []

    await log.add_judgement(Judgement(fifth[0].id, 1.0, 1, 1, (), "j@1"))
    assert {one.id for one in await log.sample(0.2, ASKED, "j@1")} == {one.id for one in fifth[1:]}
    assert len(await log.sample(0.2, ASKED, "j@2")) == len(fifth)


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_sample_points_are_stable_and_in_range(ids: list[str]) -> None:
    points = [sample_point(answer_id) for answer_id in ids]
    assert all(0 <= point < 1 for point in points)
    assert points == [sample_point(answer_id) for answer_id in ids]


async def test_faithfulness_comes_in_the_order_of_the_questions(log: AnswerLog) -> None:
    for number, score in ((2, 0.2), (0, 0.0), (1, 0.1)):
        await ask(log, f"a{number}", asked_at=ASKED + timedelta(seconds=number))
        await log.complete(answer(f"a{number}"), ())
        await log.add_judgement(Judgement(f"a{number}", score, 10, int(score * 10), (), "j@1"))
    await log.add_judgement(Judgement("a0", 1.0, 1, 1, (), "j@2"))
    assert await log.faithfulness("j@1", 10) == [0.0, 0.1, 0.2]
    assert await log.faithfulness("j@1", 2) == [0.1, 0.2]
    await log.add_judgement(Judgement("a0", 0.9, 10, 9, (), "j@1"))
    assert await log.faithfulness("j@1", 10) == [0.9, 0.1, 0.2]


async def test_a_judgement_of_an_unknown_answer_is_refused(log: AnswerLog) -> None:
    with pytest.raises(DatabaseError, match="FOREIGN KEY"):
        await log.add_judgement(Judgement("nobody", 1.0, 1, 1, (), "j@1"))


async def test_moments_are_kept_in_utc_and_need_a_zone(log: AnswerLog) -> None:
    await ask(log, asked_at=datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=2))))
    logged = await log.get("a1")
    assert logged is not None
    assert logged.asked_at == datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        await ask(log, "a2", asked_at=datetime(2026, 3, 29, 2, 30))
