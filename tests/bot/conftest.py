"""A workspace over real HTTP and WebSocket, a real database, and the bot's own service between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.services import BotServices, BotSettings, ReplySettings, RepositoryStatus
from bot.slack_service import SlackService
from playground.model import Message
from playground.server import Playground
from rag.answer_log import AnswerLog
from rag.database import Database
from rag.types import Repository
from tests.bot.migrations import ALL_MIGRATIONS
from tests.bot.scripted import BUILT, COMMIT, Script, ScriptedPipeline, repository


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "footnote.sqlite", ALL_MIGRATIONS) as opened:
        yield opened


@dataclass
class House:
    """One workspace, one database, and as many lives of the bot as a test needs."""

    playground: Playground
    database: Database
    log: AnswerLog
    pipeline: ScriptedPipeline
    settings: BotSettings
    repositories: Sequence[Repository] = field(default_factory=lambda: [repository()])
    building: str = ""

    async def status(self, name: str) -> RepositoryStatus:
        return RepositoryStatus(name, COMMIT, BUILT, 100, dense_ready=True, building=self.building)

    def service(self, **changes: object) -> SlackService:
        """A bot that is not started yet."""
        return SlackService(
            BotServices(
                settings=replace(self.settings, **changes),  # type: ignore[arg-type]
                database=self.database,
                log=self.log,
                pipeline=self.pipeline,
                repositories=lambda: self.repositories,
                status=self.status,
            )
        )

    async def say(self, text: str, *, user: str = "maya", channel: str = "engineering", thread_ts: str | None = None) -> str:
        return await self.playground.say(user, channel, text, thread_ts)

    def replies(self, ts: str, channel: str = "engineering") -> list[Message]:
        """The bot's messages in the thread of a message, in order."""
        bot = self.playground.workspace.bot.id
        return [message for message in self.playground.messages(channel, ts) if message.user == bot and message.ts > ts]

    async def reply(self, ts: str, channel: str = "engineering", count: int = 1, timeout: float = 20.0) -> Message:  # noqa: ASYNC109 - as the workspace has it
        """The bot's `count`-th finished message there."""

        def finished() -> list[Message]:
            done = [message for message in self.replies(ts, channel) if message.metadata and not live(message)]
            return done if len(done) >= count else []

        return (await self.playground.wait_for(finished, timeout))[count - 1]

    def called(self, method: str) -> list[dict[str, object]]:
        return [dict(call.arguments) for call in self.playground.calls if call.method == method]


def live(message: Message) -> bool:
    return message.stream is not None and message.stream.state == "streaming"


MakeHouse = Callable[..., "House"]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def house(database: Database, stack: AsyncExitStack) -> House:
    """A workspace without rate limits, where retries come at once; the bot is not started."""
    playground = Playground(rate_limits={}, ack_seconds=3.0, retry_delays=(0.0, 0.2, 0.4))
    await stack.enter_async_context(playground)
    log = AnswerLog(database)
    settings = BotSettings(
        playground.bot_token,
        playground.app_token,
        playground.api_url,
        retry_every=0.3,
        request_timeout=2.0,
        ping_interval=0.3,
        reconnect_after=2.0,
        reply=ReplySettings(append_interval=0.05),
    )
    return House(playground, database, log, ScriptedPipeline(database, log, Script()), settings)


@pytest.fixture
async def bot(house: House, stack: AsyncExitStack) -> SlackService:
    """The bot, started."""
    service = house.service()
    await service.start()
    stack.push_async_callback(service.stop)
    return service


async def closed(house: House, ts: str, timeout: float = 40.0) -> str:  # noqa: ASYNC109
    """Waits until the inbox row of a message is finished. Returns its outcome."""
    async with asyncio.timeout(timeout):
        while True:
            row = await house.database.read(lambda db: db.conn.execute("SELECT state, outcome FROM inbox WHERE ts = ?", (ts,)).fetchone())
            if row and row[0] in ("posted", "failed"):
                return str(row[1])
            await asyncio.sleep(0.02)
