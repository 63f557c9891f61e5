"""A whole bot in a process of its own, to be killed: `python -m tests.bot.bot_process API_URL DATABASE`. Its pipeline is scripted."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.inbox import FloodLimits
from bot.services import BotServices, BotSettings, ReplySettings, RepositoryStatus
from bot.slack_service import SlackService
from rag.answer_log import AnswerLog
from rag.database import Database
from tests.bot.migrations import ALL_MIGRATIONS
from tests.bot.scripted import BUILT, COMMIT, Script, ScriptedPipeline, repository


async def main(api_url: str, path: Path, flood: FloodLimits | None = None) -> None:
    """Answers until it is killed. `flood`: how much one person may ask, the bot's own limits by default."""
    async with Database(path, ALL_MIGRATIONS) as database:
        log = AnswerLog(database)

        async def status(name: str) -> RepositoryStatus:
            return RepositoryStatus(name, COMMIT, BUILT, 100, dense_ready=True)

        settings = BotSettings(
            "xoxb-playground",
            "xapp-playground",
            api_url,
            retry_every=0.5,
            reply=ReplySettings(append_interval=0.02),
            give_up_after=99,
            flood=flood or FloodLimits(),
        )
        pipeline = ScriptedPipeline(database, log, Script(("First.[1]\n", "Second.[1]\n", "Third.[1]\n"), pause=0.06))
        service = SlackService(BotServices(settings, database, log, pipeline, lambda: [repository()], status))
        await service.start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
