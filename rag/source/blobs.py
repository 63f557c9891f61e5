"""Trees and blobs read straight from git's objects: nothing is checked out, so no link, filter or hook can do anything.

Names are bytes in git. Here they are text: UTF-8 where they are UTF-8, otherwise each undecodable byte is written as \\xNN, so that
a name can go into JSON, SQLite and a message.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag.errors import SourceError, SourceNotFound
from rag.source import git

_REGULAR = (b"100644", b"100755", b"100664")  # the last one is what old tools wrote for the first
_WINDOW = 256  # requests in flight: 256 × 65 bytes stay below the smallest pipe
_STALL = 120.0  # seconds without a byte from cat-file

GENERATED, VENDORED = "linguist-generated", "linguist-vendored"


@dataclass(frozen=True, slots=True)
class Entry:
    """A path of a commit's tree. `mode`: "file", "symlink" or "submodule". `size`: a file's bytes, -1 where git lacks them; else 0."""

    name: bytes
    path: str
    mode: str
    blob: str
    size: int


def path_text(name: bytes) -> str:
    """A file's name as text."""
    return name.decode("utf-8", "backslashreplace")


def entries(git_dir: Path, commit: str, root: str = "", *, timeout: float = 300.0) -> list[Entry]:
    """All entries of the commit's tree in git's order; those below the folder `root` if it is given.

    Raises: SourceNotFound (no such folder), SourceError.
    """
    below = root.strip("/")
    where = ["--", below + "/"] if below and below != "." else []
    done = git.run(git_dir, ["ls-tree", "-r", "-z", "-l", "--full-tree", commit, *where], timeout=timeout)
    if done.code != 0:
        raise _unreadable(done.complaint, commit)
    found = [_entry(record) for record in done.stdout.split(b"\0") if record]
    if where and not found:
        raise SourceNotFound(
            f"The folder {root} does not exist at commit {commit[:12]}.", "Check its spelling, from the root of the repository."
        )
    return found


def _entry(record: bytes) -> Entry:
    info, _, name = record.partition(b"\t")
    mode, kind, blob, size = info.split()
    known = {b"120000": "symlink", b"160000": "submodule"}.get(mode, "file" if kind == b"blob" and mode in _REGULAR else "submodule")
    return Entry(name, path_text(name), known, blob.decode(), int(size) if size.isdigit() else -(known == "file"))


def find(git_dir: Path, commit: str, path: str, *, timeout: float = 60.0) -> Entry | None:
    """The entry at `path`, None where there is none."""
    if not path or "\0" in path or path.endswith("/"):
        return None
    try:
        done = git.run(git_dir, ["ls-tree", "-z", "-l", "--full-tree", commit, "--", path], timeout=timeout)
    except (UnicodeEncodeError, ValueError):
        return None
    if done.code == 0:
        for record in done.stdout.split(b"\0"):
            if record and record.split(b" ", 2)[1] != b"tree" and (entry := _entry(record)).path == path:
                return entry
    if "\\x" in path:
        return next((entry for entry in entries(git_dir, commit) if entry.path == path), None)
    return None


def attributes(
    git_dir: Path, commit: str, listed: Sequence[Entry], *, partly: bool = False, timeout: float = 300.0
) -> dict[bytes, dict[str, bool]]:
    """What .gitattributes of the commit say about generated and vendored files: name -> attribute -> set or unset; absent where unsaid.

    git itself applies them, from an index that is made for this and thrown away. `partly`: `listed` is only a folder of the commit.
    """
    if not partly and not any(entry.name.rpartition(b"/")[2] == b".gitattributes" and entry.mode == "file" for entry in listed):
        return {}
    with tempfile.TemporaryDirectory(prefix="footnote-index-") as temporary:
        env = git.environment(extra={"GIT_INDEX_FILE": str(Path(temporary) / "index")})
        read = git.run(git_dir, ["read-tree", commit], timeout=timeout, env=env)
        names = b"".join(entry.name + b"\0" for entry in listed if entry.mode == "file")
        arguments = ["check-attr", "--cached", "-z", "--stdin", GENERATED, VENDORED]
        done = git.run(git_dir, arguments, timeout=timeout, env=env, stdin=names) if read.code == 0 else read
    if done.code != 0:
        raise _unreadable(done.complaint, commit)
    fields = done.stdout.split(b"\0")
    said: dict[bytes, dict[str, bool]] = {}
    for name, attribute, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
        if value != b"unspecified":
            said.setdefault(name, {})[attribute.decode()] = value not in (b"unset", b"false")
    return said


class Blobs:
    """One `git cat-file --batch` process that serves any number of blobs. A context manager; not for several threads."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._stack = contextlib.ExitStack()
        self._buffer = bytearray()

    def __enter__(self) -> Blobs:
        self._errors = self._stack.enter_context(tempfile.TemporaryFile())
        self._process = self._stack.enter_context(git.started(self._git_dir, ["cat-file", "--batch"], stderr=self._errors))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, blobs: Sequence[str]) -> Iterator[bytes | None]:
        """The contents of the blobs in their order, None for one that is missing. Raises: SourceError."""
        for first in range(0, len(blobs), _WINDOW):
            window = blobs[first : first + _WINDOW]
            self._send("".join(f"{blob}\n" for blob in window).encode())
            for _ in window:
                header = self._line().split()
                if header[-1:] == [b"missing"]:
                    yield None
                    continue
                content = self._take(int(header[2]) + 1)
                yield content[:-1] if header[1] == b"blob" else None

    def _send(self, request: bytes) -> None:
        try:
            _pipe(self._process.stdin).write(request)
            _pipe(self._process.stdin).flush()
        except OSError as error:
            raise self._failure() from error

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._fill()
        content = bytes(self._buffer[:size])
        del self._buffer[:size]
        return content

    def _fill(self) -> None:
        source = _pipe(self._process.stdout).fileno()
        if not select.select([source], [], [], _STALL)[0]:
            raise SourceError(f"git has not answered for {_STALL:g} s while reading {self._git_dir}.", "Check the disk it lies on.")
        piece = os.read(source, 1 << 18)
        if not piece:
            raise self._failure()
        self._buffer += piece

    def _failure(self) -> SourceError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._errors.seek(0)
        said = git.clean(self._errors.read(64_000))
        return _unreadable(git.Finished(self._process.returncode or 0, b"", said).complaint, str(self._git_dir))


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise SourceError("git was started without a pipe.", "Report this.")
    return pipe


def _unreadable(complaint: str, what: str) -> SourceError:
    if "promisor" in complaint or "not allowed" in complaint:
        return SourceError(f"Objects of {what} are missing: the clone is partial.", "Give the URL, or a clone made without --filter.")
    return SourceError(
        f"git cannot read {what}: {complaint}.", "Run `git fsck` there; a damaged mirror can be deleted, it is cloned again."
    )
