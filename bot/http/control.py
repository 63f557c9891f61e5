"""The control socket: the process that owns the data directory runs other commands' operations for them.

One aiohttp application on a Unix socket that only its user may open. `POST /run/<operation>` takes a JSON object and answers JSON lines:
what the operation yields, as it comes, and at the end `{"done": true}` or the error. A stream without that end was cut.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
from aiohttp import web

from bot import wire
from bot.wire import Json
from rag.errors import DataDirectoryLocked, FootnoteError

logger = logging.getLogger(__name__)
Run = Callable[[str, Json], AsyncIterator[Json]]
LONGEST_REQUEST = 1 << 20  # bytes
IDLE_SECONDS = 600.0  # without a line from the owner, which sends a heartbeat more often
HEARTBEAT_SECONDS = 15.0


class ControlServer:
    """Answers on `path` while it is entered."""

    def __init__(self, path: Path, run: Run) -> None:
        self._path = path
        self._run = run
        application = web.Application(client_max_size=LONGEST_REQUEST)
        application.router.add_post("/run/{operation}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=2.0)

    async def start(self) -> None:
        await self._runner.setup()
        await asyncio.to_thread(self._path.unlink, missing_ok=True)  # left by a process that was killed: the lock says that it is dead
        mask = os.umask(0o177)
        try:
            await web.UnixSite(self._runner, str(self._path)).start()
        finally:
            os.umask(mask)

    async def stop(self) -> None:
        await self._runner.cleanup()
        await asyncio.to_thread(self._path.unlink, missing_ok=True)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            arguments = await request.json()
        except ValueError:
            return web.json_response(wire.fault(FootnoteError("The request is not JSON.")), status=400)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        writing = asyncio.Lock()

        async def send(message: Json) -> None:
            async with writing:
                await response.write(json.dumps(message, ensure_ascii=True).encode() + b"\n")

        heartbeat = asyncio.create_task(_beat(send))
        try:
            async for message in self._run(request.match_info["operation"], arguments):
                await send(message)
            await send({"done": True})
        except FootnoteError as error:
            await send(wire.fault(error))
        except (ConnectionResetError, asyncio.CancelledError):
            raise
        except Exception:
            logger.exception("operation %s failed", request.match_info["operation"])
            await send(wire.fault(FootnoteError("The process that owns the data directory failed.", "Its log says why.")))
        finally:
            heartbeat.cancel()
        return response


async def _beat(send: Callable[[Json], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        await send({"alive": True})


async def ask_owner(path: Path, operation: str, arguments: Json) -> AsyncIterator[Json]:
    """What the owner's operation yields.

    Raises: ConnectionError where no owner answers on `path` (nothing was done), DataDirectoryLocked where it went away midway, and
    whatever FootnoteError the operation raised.
    """
    timeout = aiohttp.ClientTimeout(total=None, connect=5.0, sock_read=IDLE_SECONDS)
    connector = aiohttp.UnixConnector(path=str(path))
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        try:
            response = await session.post(f"http://owner/run/{operation}", json=arguments)
        except (aiohttp.ClientConnectorError, FileNotFoundError) as error:
            raise ConnectionError(str(error)) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _gone() from error
        try:
            async for line in _lines(response.content):
                message: Json = json.loads(line)
                if "error" in message and "problem" in message:
                    raise wire.restore(message)
                if message.get("done"):
                    return
                if not message.get("alive"):
                    yield message
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise _gone() from error
        finally:
            response.close()
    raise _gone()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: the reader's own iteration refuses those over 128 KB, which a long list of results is."""
    rest = bytearray()
    async for piece in content.iter_any():
        *whole, last = piece.split(b"\n")
        for line in whole:
            yield bytes(rest) + line
            rest.clear()
        rest += last
    if rest:
        yield bytes(rest)


def _gone() -> DataDirectoryLocked:
    return DataDirectoryLocked("The process that owns the data directory stopped before it had finished.", "Run the command again.")
