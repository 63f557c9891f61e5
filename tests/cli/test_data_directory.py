"""One process owns the data directory."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.data_directory import LONGEST_SOCKET_PATH, DataDirectory
from rag.errors import ConfigurationError, DataDirectoryLocked

HOLD = """
import sys, time
from pathlib import Path
from bot.data_directory import DataDirectory
DataDirectory(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_and_told_who_owns_it(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DataDirectoryLocked, match=rf"{tmp_path} is in use by process {holder.pid}"):
            DataDirectory(tmp_path).acquire()
        holder.kill()
        holder.wait(timeout=10)
        DataDirectory(tmp_path).acquire().release()


def test_it_is_private_and_made_where_it_is_missing(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "a" / "b").acquire()
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    directory.release()
    directory.acquire().release()


def test_a_path_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        DataDirectory(tmp_path / "file" / "data").acquire()


def test_a_long_path_still_gets_a_socket_that_the_kernel_takes(tmp_path: Path) -> None:
    long = DataDirectory(tmp_path / ("x" * 120))
    assert len(os.fsencode(long.socket)) <= LONGEST_SOCKET_PATH
    assert long.socket != DataDirectory(tmp_path / ("y" * 120)).socket
