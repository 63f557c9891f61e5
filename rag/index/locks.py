"""flock'd files: who builds, and who still reads a generation. The kernel lets go when a process dies, so no lock outlives its owner."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import BuildRunning


class Pin:
    """A reader's shared lock on a generation's `pin` file. It holds across processes, until `release` or the process's end.

    Whoever deletes generations takes the lock exclusively first and renames the directory while it has it, so a pinned generation is
    never deleted, and a reader that came too late notices that its file is no longer the one at that path.
    """

    def __init__(self, path: Path) -> None:
        """Raises: FileNotFoundError when the generation is gone or going."""
        self._handle = os.open(path, os.O_RDONLY)
        try:
            # A deleter holds its lock only for a rename: waiting for it is short.
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            if not os.path.samestat(os.fstat(self._handle), path.stat()):
                raise FileNotFoundError(path)
        except BaseException:
            os.close(self._handle)
            raise

    def release(self) -> None:
        """May be called more than once."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


@contextmanager
def unpinned(path: Path) -> Iterator[bool]:
    """Whether nobody reads the generation of this `pin` file; while the context lasts, nobody can begin to."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield True  # never published, so never opened
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


@contextmanager
def build_lock(directory: Path, repository: str) -> Iterator[None]:
    """One builder a repository, across processes.

    Raises: BuildRunning, naming the process that builds.
    """
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory / "build.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            raise BuildRunning(
                f"{repository} is being indexed already{f' by process {owner}' if owner else ''}.",
                "Wait until it is done, then try again; questions are answered meanwhile.",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
