"""Run an operation where it must run: here, owning the data directory, or in the process that owns it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from bot.data_directory import DataDirectory
from bot.http.control import ask_owner
from bot.settings import Settings
from bot.wire import Json
from rag.errors import DataDirectoryLocked
from rag.index.build_child import SpareChild

PATIENCE = 30.0  # seconds that a command waits for another short one to let go of the data directory
LONG = frozenset({"index", "stats", "ask"})  # operations during which others must be answered


async def run(settings: Settings, operation: str, arguments: Json) -> AsyncIterator[Json]:
    """What the operation yields; see bot.operations. Raises: FootnoteError."""
    directory = DataDirectory(settings.data_dir)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            directory.acquire()
        except DataDirectoryLocked as locked:
            try:
                async for message in ask_owner(directory.socket, operation, arguments):
                    yield message
                return
            except ConnectionError:  # an owner that answers nobody, or that is just going: wait for the directory
                if time.monotonic() > deadline:
                    raise locked from None
                await asyncio.sleep(0.05)
        else:
            async with AsyncExitStack() as stack:
                stack.callback(directory.release)
                spare = None
                if operation == "index":  # the builder loads its modules while this process loads its own
                    spare = await stack.enter_async_context(SpareChild(settings.git_token.get_secret_value(), settings.build_threads))
                from bot.wiring.parts import owning  # heavy: only the process that does the work pays for it

                own = owning(settings, directory, f"footnote {operation}", answer_others=operation in LONG, spare=spare)
                operations = await stack.enter_async_context(own)
                async for message in operations.run(operation, arguments):
                    yield message
            return


async def result(settings: Settings, operation: str, arguments: Json) -> Json:
    """The last thing that the operation yields. Raises: FootnoteError."""
    yielded: Json = {}
    async for message in run(settings, operation, arguments):
        yielded = message
    return yielded
