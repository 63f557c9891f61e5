"""One event is one line, whatever is in it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from bot.logs import configure_logging

HOSTILE = "a\n2026-01-01 ERROR forged\r\x1b[31m\u202e\u2028end ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


@pytest.mark.parametrize("style", ["text", "json"])
def test_one_event_is_one_line_without_control_characters_or_secrets(style: str) -> None:
    stream = io.StringIO()
    configure_logging(style, stream)
    logger = logging.getLogger("bot.test")
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logger.exception("about %s", HOSTILE)
    written = stream.getvalue()
    assert written.count("\n") == 1
    assert len(written.splitlines()) == 1
    assert not {"\x1b", "\u202e", "\r"} & set(written)
    assert "ghp_0123" not in written
    assert "ValueError" in written
    if style == "json":
        assert json.loads(written)["level"] == "ERROR"


def test_libraries_are_quiet_below_warnings() -> None:
    stream = io.StringIO()
    configure_logging("text", stream)
    logging.getLogger("httpx").info("noise")
    logging.getLogger("rag.x").info("ours")
    assert "noise" not in stream.getvalue()
    assert "ours" in stream.getvalue()
