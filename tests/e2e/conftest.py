"""A playground as a person starts it: its own process, the real bot, a real repository."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.data_directory import DataDirectory
from bot.http.control import ask_owner
from tests.index.fixtures import data_directory

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Footnote:
    """The command line, run as people run it, on a data directory of its own."""

    data_dir: Path
    cwd: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.cwd),
            "FOOTNOTE_DATA_DIR": str(self.data_dir),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),  # this checkout, whatever is installed
        }

    def run(self, *words: str, code: int = 0, stdin: str = "", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "bot", *words],
            cwd=self.cwd,
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert done.returncode == code, f"footnote {' '.join(words)} exited {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def told(self, operation: str) -> Any:
        """What the bot that runs says of itself, over its socket: looking again and again costs no process each time."""

        async def last() -> Any:
            return [message async for message in ask_owner(DataDirectory(self.data_dir).socket, operation, {})][-1]

        return asyncio.run(last())

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bot", *words],
            cwd=self.cwd,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def footnote(tmp_path: Path, models_directory: Path) -> Footnote:
    """Nothing indexed yet; the model's export is borrowed."""
    (tmp_path / "home").mkdir()
    return Footnote(data_directory(tmp_path / "data", models_directory), tmp_path / "home")


@pytest.fixture(scope="module")
def larder(tmp_path_factory: pytest.TempPathFactory, models_directory: Path, sample_source: Path) -> Footnote:
    """The repository "larder", indexed by hand."""
    place = tmp_path_factory.mktemp("larder")
    (place / "home").mkdir()
    footnote = Footnote(data_directory(place / "data", models_directory), place / "home")
    footnote.run("index", str(sample_source), "--name", "larder")
    return footnote


@pytest.fixture(scope="module")
def playground(larder: Footnote) -> Iterator[str]:
    """The address of a playground on the indexed repository."""
    process = larder.start("playground", "--port", "0")
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:"), process.stderr and process.stderr.read()
        yield line.split()[1].rstrip("/")
    finally:
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err, err
