"""What the parts of an index need from the file system: durable writes, checksums, room on the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rag.errors import DiskFull, IndexCorrupt

# EFBIG is what a file size limit (ulimit -f) answers: for whoever runs the build it is the same thing.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_ROOM_WORDS = ("no space left", "disk quota exceeded", "file too large", "database or disk is full")
_BLOCK = 1 << 17
_ZEROS = bytes(_BLOCK)


def sync_directory(directory: Path) -> None:
    """Makes renames and new names inside `directory` durable."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(directory: Path) -> None:
    """fsync of every file and directory below, the directory itself last."""
    for parent, _, names in os.walk(directory, topdown=False):
        for name in names:
            handle = os.open(Path(parent, name), os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_directory(Path(parent))


def write_durably(path: Path, data: bytes) -> None:
    """Replaces `path` atomically: after a crash it holds the old bytes or the new ones, never a part of either."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_directory(path.parent)


def checksum(path: Path) -> str:
    """SHA-256 of a file's size and of those of its blocks that are not all zero, each after its position; hexadecimal.

    Stores preallocate tens of megabytes of nothing. Leaving it out makes opening a small index several times quicker, and a copy
    that filled the holes is still equal.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(handle).st_size
        digest = hashlib.sha256(size.to_bytes(8, "little"))
        position = 0
        while position < size:
            start = _next_data(handle, position, size)
            position = max(position, start - start % _BLOCK)
            block = os.pread(handle, _BLOCK, position)
            if not block:
                break
            if block != (_ZEROS if len(block) == _BLOCK else bytes(len(block))):
                digest.update(position.to_bytes(8, "little"))
                digest.update(block)
            position += len(block)
        return digest.hexdigest()
    finally:
        os.close(handle)


def _next_data(handle: int, position: int, size: int) -> int:
    """Where the next byte that is not in a hole lies; `position` itself where the file system does not say, `size` after the last."""
    try:
        return os.lseek(handle, position, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else position


def checksums(directory: Path) -> dict[str, tuple[int, str]]:
    """Relative POSIX path -> (bytes, checksum) of every file below."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): (path.stat().st_size, checksum(path)) for path in files}


def verify(directory: Path, expected: Mapping[str, tuple[int, str]], *, up_to: int | None = None) -> None:
    """Compares files with their recorded sizes and checksums; of files over `up_to` bytes only the size.

    Raises: IndexCorrupt, naming the first file that differs.
    """
    for name, (size, digest) in expected.items():
        path = directory / name
        try:
            found = path.stat().st_size
            altered = found == size and (up_to is None or size <= up_to) and checksum(path) != digest
        except OSError as error:
            raise corrupt(path, f"cannot be read ({error.strerror})") from error
        if found != size:
            raise corrupt(path, f"has {found:,} bytes where {size:,} were written")
        if altered:
            raise corrupt(path, "was altered since it was written")


def corrupt(path: Path, what: str) -> IndexCorrupt:
    """The error for a file of an index that is not as it was written."""
    return IndexCorrupt(f"The index file {path} {what}.", "Index the repository again with --force; it is rebuilt from its source.")


def tree_bytes(directory: Path) -> int:
    """Bytes on disk of all files below (blocks in use, since stores preallocate sparse files); 0 for a missing directory."""
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            # A build beside us may rename or delete while we count.
            try:
                total += Path(parent, name).lstat().st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def check_room(directory: Path, needed: int, purpose: str) -> None:
    """Raises: DiskFull with both numbers where fewer than `needed` bytes are free on the disk of `directory`."""
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise DiskFull(
            f"{purpose} needs about {_megabytes(needed)} on the disk of {directory}, and {_megabytes(free)} are free.",
            "Free some room, or move FOOTNOTE_DATA_DIR to a larger disk; the former index keeps answering.",
        )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk, quota or file size limit is exhausted: an OSError, or words of SQLite or of Qdrant's engine."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _NO_ROOM:
            return True
        if any(words in str(seen).lower() for words in _NO_ROOM_WORDS):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


@contextmanager
def full_disk_is_named(directory: Path, purpose: str) -> Iterator[None]:
    """Turns whatever says "no room" inside into DiskFull with the free bytes in it."""
    try:
        yield
    except DiskFull:
        raise
    except Exception as error:
        if not is_full(error):
            raise
        raise disk_full(directory, purpose) from error


def disk_full(directory: Path, purpose: str) -> DiskFull:
    """The error for a disk that filled up midway."""
    free = shutil.disk_usage(directory).free
    return DiskFull(
        f"{purpose} ran out of room on the disk of {directory}: {_megabytes(free)} are free now.",
        "Free some room, or move FOOTNOTE_DATA_DIR to a larger disk; the former index keeps answering.",
    )
