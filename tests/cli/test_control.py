"""The control socket: whole answers, restored errors, cut streams."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.http.control import ControlServer, ask_owner
from bot.wire import Json
from rag.errors import DataDirectoryLocked, FootnoteError, NotIndexed


async def run(operation: str, arguments: Json) -> AsyncIterator[Json]:
    yield {"piece": arguments["text"]}
    if operation == "long":
        yield {"piece": "é" * LONG}
    if operation == "unknown repository":
        raise NotIndexed("There is no repository x.", "Add it.")
    if operation == "fault":
        raise RuntimeError("secret detail")
    if operation == "hang":
        await asyncio.sleep(60)
    yield {"last": True}


LONG = 1_000_000


async def collect(path: Path, operation: str) -> list[Json]:
    return [message async for message in ask_owner(path, operation, {"text": "é\n\x1b"})]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Path]:
    path = tmp_path / "control.sock"
    path.write_text("left by a process that was killed")
    control = ControlServer(path, run)
    await control.start()
    yield path
    await control.stop()


async def test_what_the_operation_yields_arrives(server: Path) -> None:
    assert await collect(server, "search") == [{"piece": "é\n\x1b"}, {"last": True}]
    assert stat.S_IMODE(server.stat().st_mode) == 0o600


async def test_lines_of_any_length_arrive(server: Path) -> None:
    assert await collect(server, "long") == [{"piece": "é\n\x1b"}, {"piece": "é" * LONG}, {"last": True}]


async def test_an_error_keeps_its_class_and_its_words(server: Path) -> None:
    with pytest.raises(NotIndexed, match=r"There is no repository x\. Add it\."):
        await collect(server, "unknown repository")


async def test_an_unexpected_error_tells_nothing_of_itself(server: Path) -> None:
    with pytest.raises(FootnoteError) as raised:
        await collect(server, "fault")
    assert "secret" not in str(raised.value)


async def test_nobody_there_is_a_connection_error(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        await collect(tmp_path / "none.sock", "search")


async def test_an_owner_that_goes_away_midway_is_told(tmp_path: Path) -> None:
    control = ControlServer(tmp_path / "control.sock", run)
    await control.start()
    messages = ask_owner(tmp_path / "control.sock", "hang", {"text": "x"})
    assert await anext(messages) == {"piece": "x"}
    stopping = asyncio.create_task(control.stop())
    with pytest.raises(DataDirectoryLocked, match="stopped before it had finished"):
        await asyncio.wait_for(anext(messages), 30)
    await stopping
