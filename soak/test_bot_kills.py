"""kill -9 of the bot at random points while people mention it and vote: 0 questions missing, 0 answered twice, everything logged once, and
every vote that was acknowledged is kept."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from bot.render import VOTE_ACTION
from playground.model import Message
from playground.server import Playground
from rag.database import Database
from soak.conftest import Clock, Soak, enough
from tests.bot.migrations import ALL_MIGRATIONS
from tests.bot.test_recovery import PIECES

PEOPLE = ("maya", "tomas")
CHANNEL = "engineering"
VOTE = re.compile(r'"up:([\w-]+)"')
START_SECONDS = 120.0
# Slack gives up after five minutes; here nobody does, since a life lasts seconds: what is asked is that nothing accepted is lost.
RETRY_DELAYS = (0.3, 1.0, *[2.0] * 600)


async def test_killed_at_random_points_nothing_is_lost_and_nothing_is_done_twice(tmp_path: Path, soak: Soak) -> None:
    chance, clock = soak.chance(), soak.clock()
    path = tmp_path / "footnote.sqlite"
    asked: list[str] = []
    votes = Votes(chance)
    lives = 0
    async with Playground(rate_limits={}, ack_seconds=2.0, retry_delays=RETRY_DELAYS) as playground:
        while lives < soak.kills and not clock.over:
            votes.look(playground)
            pause = chance.choice(
                (0.0, 0.02, 0.1)
            )  # at once, so that some are cut off before they are accepted; or in the middle of answers
            async with _life(playground, path):
                for _ in range(soak.mentions):
                    asked.append(await playground.say(chance.choice(PEOPLE), CHANNEL, f"@footnote question {len(asked)}?"))
                    votes.click(playground)
                    await asyncio.sleep(chance.uniform(0, pause))
                await asyncio.sleep(chance.choice((0.05, 0.3, 0.8)) * chance.random())
            await votes.settle()
            lives += 1
        async with _life(playground, path), Database(path, ALL_MIGRATIONS) as database:
            await playground.wait_settled(600)
            await _all_closed(database, len(asked))
            logged = await _rows(database, "SELECT thread, state FROM answers")
            kept = await _rows(database, "SELECT answer_id, value FROM votes")
        wrong = _wrong(playground, asked)
        again = sum(delivery.attempts > 1 for delivery in playground.deliveries)
    soak.done.append(
        f"bot: {lives:,} kills, {len(asked):,} mentions, {len(wrong)} not answered exactly once; {again:,} deliveries repeated;"
        f" {len(votes.acknowledged):,} of {votes.clicked:,} votes acknowledged, {len(kept):,} kept"
    )
    assert wrong == []
    assert sorted(logged) == sorted((ts, "answered") for ts in asked)
    assert votes.acknowledged <= set(kept), "a vote was acknowledged and is not there"
    assert len(kept) <= votes.clicked
    enough("kills", lives, soak.kills, soak)


class Votes:
    """One vote an answer, while the bot lives or dies. `acknowledged`: (answer id, 1 or -1)."""

    def __init__(self, chance: random.Random) -> None:
        self.acknowledged: set[tuple[str, int]] = set()
        self.clicked = 0
        self._chance = chance
        self._seen: set[str] = set()
        self._waiting: list[tuple[str, str]] = []  # ts, answer id
        self._tasks: list[asyncio.Task[None]] = []

    def look(self, playground: Playground) -> None:
        """Takes note of answers that can be voted on."""
        for message in playground.messages(CHANNEL):
            found = VOTE.search(json.dumps(message.blocks))
            if found and message.ts not in self._seen:
                self._seen.add(message.ts)
                self._waiting.append((message.ts, found[1]))

    def click(self, playground: Playground) -> None:
        if self._waiting:
            ts, answer_id = self._waiting.pop(self._chance.randrange(len(self._waiting)))
            self.clicked += 1
            self._tasks.append(asyncio.create_task(self._click(playground, ts, answer_id, self._chance.choice(("up", "down")))))

    async def settle(self) -> None:
        await asyncio.gather(*self._tasks)
        self._tasks.clear()

    async def _click(self, playground: Playground, ts: str, answer_id: str, thumb: str) -> None:
        delivery = await playground.click(PEOPLE[0], CHANNEL, ts, VOTE_ACTION, f"{thumb}:{answer_id}")
        if delivery.acknowledged:
            self.acknowledged.add((answer_id, 1 if thumb == "up" else -1))


@asynccontextmanager
async def _life(playground: Playground, path: Path) -> AsyncIterator[None]:
    """The bot in a process of its own, connected; killed when the context is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "soak.bot_process", playground.api_url, str(path), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await playground.wait_connected(timeout=START_SECONDS)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()
        await playground.wait_for(lambda: not playground.sockets.connections, 30)


async def _rows(database: Database, query: str) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = await database.read(lambda db: db.conn.execute(query).fetchall())
    return rows


async def _all_closed(database: Database, count: int) -> None:
    """Until every question is answered: it takes as long as they are many, five a second at the least."""
    clock = Clock(time.monotonic() + 60 + count / 5)
    while True:
        done = await database.read(lambda db: db.conn.execute("SELECT count(*) FROM inbox WHERE state = 'posted'").fetchone()[0])
        if done == count:
            return
        assert not clock.over, f"only {done} of {count} questions are closed"
        await asyncio.sleep(0.5)


def _wrong(playground: Playground, asked: list[str]) -> list[str]:
    """Questions whose thread does not hold exactly one whole answer with its vote buttons."""
    bot = playground.workspace.bot.id
    threads: defaultdict[str, list[Message]] = defaultdict(list)
    for message in playground.messages(CHANNEL):
        if message.user == bot:
            threads[message.thread_ts].append(message)
    return [ts for ts in asked if not _whole_and_once(threads[ts])] + [ts for ts in threads if ts not in set(asked)]


def _whole_and_once(messages: list[Message]) -> bool:
    if len(messages) != 1 or (messages[0].stream is not None and messages[0].stream.state != "completed"):
        return False
    text = json.dumps(messages[0].blocks)
    return VOTE_ACTION in text and all(text.count(piece.strip()) == 1 for piece in PIECES)
