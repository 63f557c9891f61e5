"""Repositories of any history: authors, dates, merges and paths as no tool for people would make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.source.repositories import git


@dataclass(frozen=True)
class Commit:
    """`parents`: places of earlier ones, the first its base. `files`: path -> content, None deletes. `date`: as it stands in the commit."""

    author: bytes
    date: int
    files: Mapping[bytes, bytes | None]
    parents: Sequence[int] = ()
    message: bytes = b"m\n"


def quoted(name: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'


def write(directory: Path, commits: Sequence[Commit]) -> list[str]:
    """A bare repository whose "main" is the last commit; the full ids of all. A merge holds what its first parent does, and `files`."""
    git("init", "-q", "--bare", "-b", "main", directory)
    stream = bytearray()
    for number, commit in enumerate(commits):
        who = b"%s <x@example.org> %d +0000" % (commit.author, commit.date)
        stream += b"commit refs/heads/c%d\nmark :%d\nauthor %s\ncommitter %s\n" % (number, number + 1, who, who)
        stream += b"data %d\n" % len(commit.message) + commit.message + b"\n"
        if commit.parents:
            stream += b"from :%d\n" % (commit.parents[0] + 1)
        for parent in commit.parents[1:]:
            stream += b"merge :%d\n" % (parent + 1)
        for path, content in commit.files.items():
            if content is None:
                stream += b"D " + quoted(path) + b"\n"
            else:
                stream += b"M 100644 inline " + quoted(path) + b"\ndata %d\n" % len(content) + content + b"\n"
    marks = directory / "marks"
    git(f"--git-dir={directory}", "fast-import", "--quiet", "--date-format=raw-permissive", f"--export-marks={marks}", stdin=bytes(stream))
    ids = dict(line.split() for line in marks.read_text().splitlines())
    git(f"--git-dir={directory}", "update-ref", "refs/heads/main", ids[f":{len(commits)}"])
    return [ids[f":{number + 1}"] for number in range(len(commits))]
