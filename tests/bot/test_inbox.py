from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.channels import Channels
from bot.inbox import FloodLimits, Inbox, answer_id_for
from bot.incoming import Incoming, QuestionKey
from rag.database import Database

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def question(ts: str = "1700000000.000100", user: str = "U1", app: str = "A1") -> Incoming:
    return Incoming(QuestionKey(app, "T1", "C1", ts), "1700000000.000001", user, "T1", "how?", direct=False, shared=False)


def inbox(database: Database, *, clock: list[datetime] | None = None, limits: FloodLimits = FloodLimits()) -> Inbox:
    times = clock or [NOW]
    return Inbox(database, lambda: times[0], limits)


async def test_fifty_deliveries_at_once_are_accepted_once(database: Database) -> None:
    box = inbox(database)
    rows = await asyncio.gather(*(box.accept(question()) for _ in range(50)))
    assert sum(row is not None for row in rows) == 1
    assert [row.key.ts for row in await box.unfinished()] == ["1700000000.000100"]


async def test_two_apps_in_one_channel_have_a_question_each(database: Database) -> None:
    box = inbox(database)
    assert await box.accept(question())
    assert await box.accept(question(app="A2"))


async def test_a_row_goes_from_received_to_posted_and_its_text_goes(database: Database) -> None:
    box = inbox(database)
    row = await box.accept(question())
    assert row is not None
    assert (row.state, row.attempts) == ("received", 0)
    begun = await box.begin(row.key)
    assert begun is not None
    assert (begun.state, begun.attempts) == ("answering", 1)
    await box.choose(row.key, "flask")
    await box.prepare(row.key, "{}", "answer")
    await box.replied(row.key, ["2.0"])
    assert await box.answer_at("T1", "C1", "2.0") == row.answer_id
    await box.finish(row.key, replies=["2.0", "3.0"], outcome="answer")
    done = await box.get(row.key)
    assert done is not None
    assert (done.state, done.text, done.outbox, done.replies) == ("posted", "", "", ("2.0", "3.0"))
    assert await box.begin(row.key) is None
    assert await box.unfinished() == []
    assert await box.accept(question()) is None
    assert await box.answer_at("T1", "C1", "3.0") == row.answer_id
    assert await box.answer_at("T1", "C2", "3.0") == ""


async def test_a_message_in_place_of_an_answer_is_a_failure_without_votes(database: Database) -> None:
    box = inbox(database)
    row = await box.accept(question())
    assert row is not None
    await box.finish(row.key, replies=["2.0"], outcome="NotIndexed")
    done = await box.get(row.key)
    assert done is not None
    assert done.state == "failed"
    assert await box.answer_at("T1", "C1", "2.0") == ""


async def test_a_thread_remembers_its_last_repository(database: Database) -> None:
    box = inbox(database)
    for ts, name in (("1700000000.000100", "flask"), ("1700000000.000200", "gin")):
        await box.accept(question(ts))
        await box.choose(question(ts).key, name)
    later = question("1700000000.000300")
    assert await box.thread_repository(later.key, later.thread) == "gin"
    assert await box.thread_repository(later.key, "1.0") == ""
    assert await box.thread_repository(replace(later.key, channel="C9"), later.thread) == ""


async def test_limits_count_what_was_answered_and_forget_with_time(database: Database) -> None:
    clock = [NOW]
    box = inbox(database, clock=clock, limits=FloodLimits(per_user=2, window=60, waiting=3))
    rows = [await box.accept(question(f"170000000{n}.0001")) for n in range(4)]
    assert [row.refusal for row in rows if row] == ["", "", "user", "user"]
    others = [await box.accept(question(f"180000000{n}.0001", user=f"V{n}")) for n in range(2)]
    assert [row.refusal for row in others if row] == ["", "queue"]
    for row in rows:
        assert row is not None
        await box.finish(row.key, replies=[], outcome="answer")
    clock[0] = NOW + timedelta(seconds=61)
    fresh = await box.accept(question("1900000000.0001"))
    assert fresh is not None
    assert fresh.refusal == ""


async def test_purging_leaves_what_is_open(database: Database) -> None:
    box = inbox(database)
    done, still = await box.accept(question("1.1")), await box.accept(question("1.2"))
    assert done is not None
    assert still is not None
    await box.finish(done.key, replies=[], outcome="answer")
    assert await box.purge(NOW + timedelta(days=1)) == 1
    assert [row.key for row in await box.unfinished()] == [still.key]


@given(st.integers(0, 2**34), st.integers(0, 999_999), st.integers(1, 10**6))
def test_answer_ids_sort_by_time_and_are_url_safe(seconds: int, micros: int, later: int) -> None:
    first = answer_id_for(QuestionKey("A", "T", "C", f"{seconds}.{micros:06d}"))
    second = answer_id_for(QuestionKey("A", "T", "C", f"{seconds + later}.{micros:06d}"))
    assert first < second
    assert first.replace("-", "").isalnum()
    assert first != answer_id_for(QuestionKey("A", "T", "D", f"{seconds}.{micros:06d}"))


async def test_a_channels_own_choice_wins_over_the_configuration(database: Database) -> None:
    channels = Channels(database, lambda: NOW, {"C1": "flask"})
    assert await channels.repository("T1", "C1") == "flask"
    await channels.bind("T1", "C1", "gin", "U1")
    await channels.bind("T1", "C1", "axios", "U2")
    assert await channels.repository("T1", "C1") == "axios"
    assert await channels.repository("T2", "C1") == "flask"
    assert await channels.repository("T1", "C2") == ""
