"""The bot of tests/bot/bot_process.py, for people who ask without end: `python -m soak.bot_process API_URL DATABASE`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.inbox import FloodLimits
from tests.bot.bot_process import main

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), FloodLimits(per_user=1_000_000, waiting=1_000_000)))
