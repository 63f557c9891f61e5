"""Durable writes, checksums, room on the disk."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import DiskFull, IndexCorrupt
from rag.index.files import check_room, checksum, checksums, full_disk_is_named, is_full, sync_tree, tree_bytes, verify, write_durably


def test_a_write_replaces_the_whole_file(tmp_path: Path) -> None:
    write_durably(tmp_path / "current", b"one, which is longer")
    write_durably(tmp_path / "current", b"two")
    assert (tmp_path / "current").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["current"]


def test_checksums_notice_every_change(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"content")
    (tmp_path / "empty").write_bytes(b"")
    sync_tree(tmp_path)
    written = checksums(tmp_path)
    assert set(written) == {"a/b", "empty"}
    verify(tmp_path, written)
    (tmp_path / "a" / "b").write_bytes(b"kontent")
    with pytest.raises(IndexCorrupt, match=r"a/b was altered"):
        verify(tmp_path, written)
    verify(tmp_path, written, up_to=3)  # too dear to read: only its size counts
    (tmp_path / "a" / "b").write_bytes(b"cont")
    with pytest.raises(IndexCorrupt, match="4 bytes where 7"):
        verify(tmp_path, written, up_to=3)
    (tmp_path / "a" / "b").unlink()
    with pytest.raises(IndexCorrupt, match="cannot be read"):
        verify(tmp_path, written)


@given(
    st.lists(st.tuples(st.integers(0, 600_000), st.binary(min_size=1, max_size=9)), max_size=5),
    st.integers(0, 600_000),
    st.integers(1, 255),
)
@settings(max_examples=40, deadline=None)
def test_holes_do_not_count_and_every_byte_does(writes: list[tuple[int, bytes]], place: int, flip: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path, filled, other = (Path(directory) / name for name in ("holes", "filled", "other"))
        with path.open("wb") as file:
            file.truncate(700_000)
            for position, data in writes:
                file.seek(position)
                file.write(data)
        content = path.read_bytes()
        filled.write_bytes(content)
        other.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
        assert checksum(path) == checksum(filled) != checksum(other)
        filled.write_bytes(content + b"\0")
        assert checksum(path) != checksum(filled)


def test_no_room_is_said_with_both_numbers(tmp_path: Path) -> None:
    check_room(tmp_path, 1, "Indexing larder")
    with pytest.raises(DiskFull) as caught:
        check_room(tmp_path, 1 << 60, "Indexing larder")
    assert len(re.findall(r"[\d,]+ MB", caught.value.problem)) == 2
    assert "FOOTNOTE_DATA_DIR" in caught.value.remedy


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="ran out of room"), full_disk_is_named(tmp_path, "Indexing larder"):
        Path("/dev/full").write_bytes(b"x")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "x"),
        OSError(errno.EDQUOT, "x"),
        sqlite3.OperationalError("database or disk is full"),
        RuntimeError("IO: No space left on device (os error 28)"),
    ],
    ids=str,
)
def test_words_for_no_room(error: Exception) -> None:
    assert is_full(error)
    wrapped = RuntimeError("could not write")
    wrapped.__cause__ = error
    assert is_full(wrapped)


def test_other_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), full_disk_is_named(tmp_path, "Indexing larder"):
        raise PermissionError(errno.EACCES, "no")


def test_sparse_files_count_what_they_hold(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        os.truncate(file.fileno(), 50_000_000)
    assert tree_bytes(tmp_path) < 1_000_000
    assert tree_bytes(tmp_path / "nowhere") == 0
