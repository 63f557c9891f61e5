"""The data directory has one owner at a time: a lock on it, and a socket on which the owner answers other commands."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Self

from rag.errors import ConfigurationError, DataDirectoryLocked

LONGEST_SOCKET_PATH = 100  # bytes; the kernel's limit is 108 on Linux, 104 on macOS


class DataDirectory:
    """Owns `path` while it is entered. Private to its user (mode 700), since it holds source code and questions."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self._lock: int | None = None

    @property
    def database(self) -> Path:
        return self.path / "footnote.sqlite"

    @property
    def embeddings(self) -> Path:
        return self.path / "embeddings.sqlite"

    @property
    def models(self) -> Path:
        return self.path / "models"

    @property
    def socket(self) -> Path:
        """Where the owner answers: in the directory, or, where that path is too long for a socket, in a private temporary one."""
        inside = self.path / "control.sock"
        if len(os.fsencode(inside)) <= LONGEST_SOCKET_PATH:
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"footnote-{os.getuid()}" / f"{digest}.sock"

    def create(self) -> None:
        """Raises: ConfigurationError where it cannot be made or written to."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"The data directory {self.path} cannot be made: {error.strerror}.", "Set FOOTNOTE_DATA_DIR to a directory of yours."
            ) from None
        owner = self.socket.parent.stat()
        if owner.st_uid != os.getuid():
            raise ConfigurationError(f"{self.socket.parent} belongs to another user.", "Set FOOTNOTE_DATA_DIR to a directory of yours.")

    def acquire(self) -> Self:
        """Raises: DataDirectoryLocked where another process owns it, ConfigurationError where it cannot be written to."""
        self.create()
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"The data directory {self.path} cannot be written to: {error.strerror}.", "Check its owner and mode, or FOOTNOTE_DATA_DIR."
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(lock, 32).decode("ascii", "replace").strip()
            os.close(lock)
            raise DataDirectoryLocked(
                f"The data directory {self.path} is in use by process {owner or '?'}.", "Ask that one, stop it, or set FOOTNOTE_DATA_DIR."
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        self._lock = lock
        return self

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
