"""What an earlier life of the bot left behind ends in exactly one answer."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import sys
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest

from bot.render import VOTE_ACTION
from playground.server import Playground
from rag.database import Database
from tests.bot.conftest import House, closed
from tests.bot.migrations import ALL_MIGRATIONS
from tests.bot.scripted import Script

PIECES = ("First.[1]\n", "Second.[1]\n", "Third.[1]\n")


def whole_and_once(house: House, ts: str) -> None:
    messages = house.replies(ts)
    assert len(messages) == 1
    assert messages[0].stream is None or messages[0].stream.state == "completed"
    text = json.dumps(messages[0].blocks)
    assert all(text.count(piece.strip()) == 1 for piece in PIECES), text
    assert VOTE_ACTION in text


async def test_a_question_cut_off_in_mid_stream_is_finished_in_the_same_message(house: House, stack: AsyncExitStack) -> None:
    house.pipeline.scripts = [Script(PIECES, gate=asyncio.Event()), Script(PIECES)]
    first = house.service(stop_timeout=8.0)
    await first.start()
    ts = await house.say("@footnote how?")
    await house.playground.wait_for(lambda: house.replies(ts))
    began = time.monotonic()
    await first.stop()
    assert time.monotonic() - began < 10
    half = house.replies(ts)[0]
    second = house.service()
    await second.start()
    stack.push_async_callback(second.stop)
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)
    assert house.replies(ts)[0].ts == half.ts
    assert len({question.answer_id for question in house.pipeline.asked}) == 1


async def test_stopping_lets_an_answer_finish(house: House) -> None:
    house.pipeline.scripts = [Script(PIECES, pause=0.3)]
    service = house.service()
    await service.start()
    ts = await house.say("@footnote how?")
    await house.playground.wait_for(lambda: house.replies(ts))
    await service.stop()
    whole_and_once(house, ts)
    assert await closed(house, ts) == "answer"
    assert not house.playground.sockets.connections


async def test_an_answer_that_was_logged_and_not_posted_is_posted_and_not_written_again(house: House, stack: AsyncExitStack) -> None:
    house.pipeline.scripts = [Script(PIECES)]
    first = house.service(request_timeout=0.3)
    await first.start()
    for method in ("chat.startStream", "chat.stopStream", "chat.update", "chat.postMessage"):
        house.playground.faults.inject(method, status=503, body="", times=10_000)
    ts = await house.say("@footnote how?")
    await house.playground.wait_for(lambda: house.called("chat.postMessage"))
    await first.stop()
    house.playground.faults.clear()
    second = house.service()
    await second.start()
    stack.push_async_callback(second.stop)
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)
    assert len(house.pipeline.asked) == 1


async def test_an_answer_that_was_posted_and_not_recorded_is_recognised(house: House, stack: AsyncExitStack) -> None:
    house.pipeline.scripts = [Script(PIECES)]
    first = house.service()
    await first.start()
    ts = await house.say("@footnote how?")
    await closed(house, ts)
    await first.stop()
    before = house.replies(ts)[0].ts
    await house.database.write(lambda db: db.conn.execute("UPDATE inbox SET state = 'answering', text = 'how?', replies = '[]'").rowcount)
    second = house.service()
    await second.start()
    stack.push_async_callback(second.stop)
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)
    assert house.replies(ts)[0].ts == before
    assert len(house.pipeline.asked) == 1
    assert not house.called("chat.update")


async def test_slack_that_is_away_for_a_while_is_waited_for(house: House, stack: AsyncExitStack) -> None:
    house.pipeline.scripts = [Script(PIECES)]
    service = house.service(request_timeout=0.3)
    await service.start()
    stack.push_async_callback(service.stop)
    for method in ("chat.startStream", "chat.postMessage"):
        house.playground.faults.inject(method, status=503, body="", times=4)
    ts = await house.say("@footnote how?")
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)


async def test_a_question_that_ends_every_life_is_given_up_with_a_clear_message(house: House, stack: AsyncExitStack) -> None:
    first = house.service()
    await first.start()
    ts = await house.say("@footnote how?")
    await closed(house, ts)
    await first.stop()
    await house.database.write(
        lambda db: (
            db.conn.execute(
                "UPDATE inbox SET ts = '9' || ts, state = 'answering', text = 'how?', replies = '[]', attempts = 5, outcome = ''"
            ).rowcount
        )
    )
    asked = len(house.pipeline.asked)
    second = house.service()
    await second.start()
    stack.push_async_callback(second.stop)
    await closed(house, f"9{ts}")
    assert len(house.pipeline.asked) == asked
    assert "several attempts" in house.replies(ts)[-1].text


async def test_an_unposted_question_in_a_channel_that_is_gone_is_closed(house: House, stack: AsyncExitStack) -> None:
    service = house.service()
    await service.start()
    stack.push_async_callback(service.stop)
    for method in ("chat.startStream", "chat.postMessage"):
        house.playground.faults.inject(method, "is_archived", times=99)
    ts = await house.say("@footnote how?")
    assert await closed(house, ts) == "undeliverable"


@pytest.mark.slow
async def test_killed_at_random_points_every_question_has_one_answer(tmp_path: Path) -> None:
    """kill -9, restart, again and again, while people ask."""
    chance = random.Random(7)
    path = tmp_path / "footnote.sqlite"
    asked: list[str] = []
    async with Playground(rate_limits={}, ack_seconds=1.0, retry_delays=(0.3, 1.0, 3.0)) as playground:
        for life in range(5):
            process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.bot.bot_process", playground.api_url, str(path))
            try:
                await playground.wait_connected(timeout=60)
                for _ in range(2 if life < 4 else 0):
                    asked.append(await playground.say("maya", "engineering", f"@footnote question {len(asked)}?"))
                    await asyncio.sleep(chance.uniform(0, 0.15))
                if life < 4:
                    await asyncio.sleep(chance.uniform(0, 0.3))
                else:
                    await playground.wait_settled(60)
                    async with Database(path, ALL_MIGRATIONS) as database:
                        await _all_closed(database, len(asked))
            finally:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                await process.wait()
                await playground.wait_for(lambda: not playground.sockets.connections)
        bot = playground.workspace.bot.id
        for ts in asked:
            messages = [message for message in playground.messages("engineering", ts) if message.user == bot]
            assert len(messages) == 1, [message.text for message in messages]
            text = json.dumps(messages[0].blocks)
            assert all(text.count(piece.strip()) == 1 for piece in PIECES), text
            assert VOTE_ACTION in text


async def _all_closed(database: Database, count: int) -> None:
    async with asyncio.timeout(60):
        while True:
            done = await database.read(lambda db: db.conn.execute("SELECT count(*) FROM inbox WHERE state = 'posted'").fetchone()[0])
            if done == count:
                return
            await asyncio.sleep(0.1)


async def test_what_cannot_be_written_down_is_not_acknowledged_and_comes_again(house: House, stack: AsyncExitStack, tmp_path: Path) -> None:
    house.pipeline.scripts = [Script(PIECES)]
    service = house.service()
    await service.start()
    stack.push_async_callback(service.stop)
    house.playground.sockets.ack_seconds = 0.5
    other = sqlite3.connect(tmp_path / "footnote.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ts = await house.say("@footnote how?")
    await house.playground.wait_for(lambda: any(delivery.failures for delivery in house.playground.deliveries))
    assert not any(delivery.acknowledged for delivery in house.playground.deliveries)
    other.execute("ROLLBACK")
    other.close()
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)
    assert len(house.pipeline.asked) == 1


async def test_a_token_that_was_revoked_loses_no_question(house: House, stack: AsyncExitStack) -> None:
    house.pipeline.scripts = [Script(PIECES)]
    service = house.service()
    await service.start()
    stack.push_async_callback(service.stop)
    for method in ("chat.startStream", "chat.postMessage"):
        house.playground.faults.inject(method, "token_revoked", times=2)
    ts = await house.say("@footnote how?")
    assert await closed(house, ts) == "answer"
    whole_and_once(house, ts)
    assert len(house.pipeline.asked) == 1
