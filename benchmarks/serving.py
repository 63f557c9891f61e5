"""`footnote serve` as an operator runs it, connected to a workspace on this machine: for benchmarks to start and ask."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import psutil

import bot
from bot.http.control import ask_owner
from playground import Playground

START_SECONDS = 120.0
_LOOK = 0.005  # seconds between two looks at /health
_CONFIG = """
[[repositories]]
name = "{name}"
source = "{source}"
audience = ["*"]
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A bot that is up. `seconds`: from the start of its process until `GET /health` said that it is well. `processor`: seconds that
    the process had of all processors by then, which a busy machine changes little."""

    process: asyncio.subprocess.Process
    data: Path
    seconds: float
    processor: float

    async def ask(self, operation: str, **arguments: object) -> dict[str, Any]:
        """The result of an operation, asked over the control socket as a command does."""
        result: dict[str, Any] = {}
        async for message in ask_owner(self.data / "control.sock", operation, arguments):
            result = message
        return result


def configure(data: Path, repositories: Mapping[str, Path]) -> None:
    """Writes the footnote.toml that names them; nothing of it is rebuilt at a start for its age alone."""
    tables = [_CONFIG.format(name=name, source=source) for name, source in repositories.items()]
    (data / "footnote.toml").write_text("".join(tables) + "\n[schedule]\nstale_hours = 100000\n", "utf-8")


def environment(data: Path, **more: str) -> dict[str, str]:
    """This process's without what configures Footnote, and a data directory."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOOTNOTE_", "SLACK_", "GROQ_"))}
    return {**kept, "FOOTNOTE_DATA_DIR": str(data), "PYTHONPATH": str(Path(bot.__file__).parent.parent), **more}


@asynccontextmanager
async def serving(data: Path) -> AsyncIterator[Served]:
    """A bot on a configured data directory, ended when the context is left. Raises: RuntimeError where it does not come up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    async with Playground() as workspace, aiohttp.ClientSession() as session:
        tokens = {"SLACK_BOT_TOKEN": workspace.bot_token, "SLACK_APP_TOKEN": workspace.app_token}
        variables = environment(data, FOOTNOTE_SLACK_BASE_URL=workspace.api_url, FOOTNOTE_HTTP_LISTEN=listen, **tokens)
        started = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "serve",
            cwd=data,
            env=variables,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await _well(session, f"http://{listen}/health"):
                    if process.returncode is not None:
                        raise RuntimeError("footnote serve ended instead of serving")
                    await asyncio.sleep(_LOOK)
            taken = time.perf_counter() - started
            used = psutil.Process(process.pid).cpu_times()
            yield Served(process, data, taken, used.user + used.system)
        finally:
            if process.returncode is None:
                process.terminate()
                try:
                    await asyncio.wait_for(process.wait(), 40)
                except TimeoutError:
                    process.kill()
                    await process.wait()


async def _well(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.status == 200
    except aiohttp.ClientConnectionError:
        return False
