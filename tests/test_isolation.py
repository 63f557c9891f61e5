"""The walls around the tests and around the imports hold."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

HEAVY = {"torch", "numpy", "scipy", "aiohttp", "httpx", "groq", "slack_bolt", "slack_sdk", "onnxruntime", "qdrant_client", "qdrant_edge"}


def test_a_test_cannot_reach_the_world() -> None:
    with socket.socket() as outside, pytest.raises(PermissionError, match="tests stay on this machine"):
        outside.connect(("192.0.2.1", 443))
    with pytest.raises(PermissionError, match="tests stay on this machine"):
        socket.create_connection(("example.com", 80), timeout=5)


@pytest.mark.parametrize("words", [["--help"], ["index", "--help"], ["ask", "--help"], ["serve", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    script = f"""
import sys
from bot.cli import app
try:
    app({words!r}, prog_name="footnote")
finally:
    print("HEAVY", sorted({HEAVY!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "HEAVY []" in done.stdout
