"""Where git's processes stand: away from a terminal that it could ask at, and else in our session, whose priority then holds for them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SIGHT = """
import os, sys, fcntl, termios
if sys.argv[1] == "terminal":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from rag.source.git import started
with started(None, ["hash-object", "--stdin"]) as process:
    print(os.getsid(process.pid) == os.getsid(0), os.getpgid(process.pid) == process.pid)
"""


def seen(where: str, stdin: int) -> str:
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", SIGHT, where],
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    return done.stdout.strip()


def test_without_a_terminal_git_stays_in_our_session_in_a_group_of_its_own() -> None:
    assert seen("none", subprocess.DEVNULL) == "True True"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="takes a terminal as Linux gives one")
def test_with_a_terminal_git_is_taken_away_from_it() -> None:
    ours, theirs = pty.openpty()
    try:
        assert seen("terminal", theirs) == "False True"
    finally:
        os.close(theirs)
        os.close(ours)
