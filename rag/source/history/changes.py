"""A repository's commits, read from one `git log` as it writes: no diff is made of contents, so a clone without blobs is enough.

Each commit is told by a word that this run made up, so that no file or author can be taken for one. Renames are not followed: a file's
history begins where its path does. A merge counts with what it holds of none of its parents. No replacement or graft of commits is heeded.
"""

from __future__ import annotations

import os
import secrets
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag.errors import SourceError
from rag.source import git
from rag.source.blobs import path_text

_PIECE = 1 << 18
_LONGEST_FIELD = 1 << 16  # bytes of a name or path that are read; no real one comes near
_QUICK = 60.0
_SETTINGS = ("log.showRoot=true", "mailmap.file=/dev/null", "core.bare=true", "diff.orderFile=/dev/null", "i18n.logOutputEncoding=UTF-8")


@dataclass(frozen=True, slots=True)
class Change:
    """A commit. `date`: the committer's, seconds since 1970 as written, whatever that is. `author`: as .mailmap has it, raw. `paths`: of
    the files that are other than before, deleted ones included, as rag.source.blobs writes them. `message`: raw, "" where not asked for."""

    commit: str
    date: int
    author: str
    paths: tuple[str, ...]
    message: str = ""


def changes(git_dir: Path, commit: str, *, without: str = "", messages: bool = False, timeout: float = 900.0) -> Iterator[Change]:
    """The commits that `commit` has, newest first; those of `without`, a full commit id, left out. `timeout`: seconds for all of it.
    `messages`: whether they are read too, up to 64 KiB of each.

    Raises: GitTimeout, SourceError.
    """
    word = secrets.token_hex(12)
    arguments = [
        *(
            "log",
            "-z",
            f"--format=%x00{word}%x00%H%x00%ct%x00{'%B' if messages else ''}%x00%aN",
            "--encoding=UTF-8",
            "--name-only",
            "--diff-merges=combined",
        ),
        *("--no-renames", "--no-relative", "--no-ext-diff", "--no-notes", f"{without}..{commit}" if without else commit, "--"),
    ]
    settings = (*_SETTINGS, f"mailmap.blob={commit}:.mailmap")
    env = git.environment(extra={"GIT_GRAFT_FILE": os.devnull})
    with tempfile.TemporaryFile() as errors, git.started(git_dir, arguments, settings=settings, env=env, stderr=errors) as process:
        yield from _changes(_fields(process, time.monotonic() + timeout, timeout), word.encode())
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        if process.returncode != 0:
            errors.seek(0)
            said = git.Finished(process.returncode or 0, b"", git.clean(errors.read(64_000))).complaint
            raise SourceError(f"git cannot read the history of {git_dir}: {said}.", "Run `git fsck` there.")


def cut_at(git_dir: Path) -> frozenset[str]:
    """The commits at which a shallow clone ends: what they say they changed is all that was there, and nothing before them is known."""
    try:
        common = git.run(git_dir, ["rev-parse", "--git-path", "shallow"], timeout=_QUICK)
        path = Path(os.fsdecode(common.stdout.rstrip(b"\n"))) if common.code == 0 else git_dir / "shallow"
        return frozenset(Path("/", path).read_text("ascii").split())
    except (OSError, ValueError):
        return frozenset()


def holds(git_dir: Path, commit: str, former: str) -> bool:
    """Whether `former` is there and an ancestor of `commit`."""
    return git.run(git_dir, ["merge-base", "--is-ancestor", former, commit], timeout=_QUICK).code == 0


def mailmap_of(git_dir: Path, commit: str) -> str:
    """The id of the commit's .mailmap, "" where it has none."""
    done = git.run(git_dir, ["rev-parse", "--verify", "--quiet", f"{commit}:.mailmap"], timeout=_QUICK)
    return done.stdout.decode("ascii", "replace").strip() if done.code == 0 else ""


def committed_at(git_dir: Path, commit: str) -> int:
    """The committer's date of a commit as it is written, in seconds; 0 where that cannot be read."""
    done = git.run(git_dir, ["log", "-1", "--format=%ct", commit, "--"], timeout=_QUICK)
    with suppress(ValueError):
        return int(done.stdout)
    return 0


def _changes(fields: Iterator[bytes], word: bytes) -> Iterator[Change]:
    field = next(fields, None)
    while field is not None and field != word:
        field = next(fields, None)
    while field is not None:
        commit, date, message, author = (next(fields, b"") for _ in range(4))
        paths: list[str] = []
        first = True
        while (field := next(fields, None)) is not None and field != word:
            # Before the files of a commit git puts a line end, before those of a merge a field of nothing.
            name = field.removeprefix(b"\n") if first else field
            first = False
            if name:
                paths.append(path_text(name))
        who, said = author.decode("utf-8", "replace"), message.decode("utf-8", "replace")
        yield Change(commit.decode("ascii", "replace"), _number(date), who, tuple(paths), said)


def _fields(process: subprocess.Popen[bytes], deadline: float, timeout: float) -> Iterator[bytes]:
    """What git writes, cut at each NUL. Of a field that never ends only the beginning is held."""
    pipe: IO[bytes] | None = process.stdout
    assert pipe is not None  # noqa: S101
    rest = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            raise git.GitTimeout(f"git log did not finish within {timeout:g} s and was stopped.", "Try again, or allow it more time.")
        piece = os.read(pipe.fileno(), _PIECE)
        if not piece:
            if rest:
                yield rest
            return
        *whole, last = piece.split(b"\0")
        if whole:
            yield rest + whole[0]
            yield from whole[1:]
            rest = last
        else:
            rest = (rest + last)[:_LONGEST_FIELD]


def _number(text: bytes) -> int:
    try:
        return int(text)
    except ValueError:
        return 0
