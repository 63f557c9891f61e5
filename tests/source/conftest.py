"""Fixtures of this room."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.source.repositories import Bare

_started: list[str] = []
_recording = False


def _hook(event: str, _: tuple[Any, ...]) -> None:
    if _recording and event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system", "pty.spawn"):
        _started.append(event)


sys.addaudithook(_hook)


@pytest.fixture
def processes() -> Iterator[list[str]]:
    """The process starts of this interpreter while the test runs."""
    global _recording
    _started.clear()
    _recording = True
    yield _started
    _recording = False


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path / "origin.git")


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Bare]:
    return lambda name: Bare(tmp_path / name)
