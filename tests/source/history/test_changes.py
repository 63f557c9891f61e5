"""The log as it is read, against what `git ls-tree` and `git show` say of one commit after the other."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import SourceError
from rag.source import git as hardened
from rag.source.blobs import path_text
from rag.source.history.changes import changes, cut_at, holds, mailmap_of
from tests.source.history.commits import Commit, write
from tests.source.repositories import ENV, git

PATHS = (
    b"a",
    b"b/c.py",
    b"b/d.py",
    b"\n",
    b"\nlead",
    b"sp ace",
    b"caf\xc3\xa9",
    b"\xff\xfe",
    b"0123456789012345678901234567890123456789",
    b'"q"',
)
NAMES = (b"Ana B", b"", b"\xe9mile", b"na\x01me\ttab", b"x" * 10_000, "\u202eevil".encode(), b"commit 0123", b"dependabot[bot]")
MESSAGES = (
    b"m\n",
    b"",
    b"Mend the door\n\nIt stuck.\n",
    b"\n\nlead",
    b"caf\xe9 \xff\n",
    b"word " * 6_000,
    b"a.py\n\nb/c.py\n",
    "\u202eevil\n".encode(),
)
DATES = (1_500_000_000, 1_600_000_000, 0, 1, 4_102_444_800, 1_550_000_000)


@st.composite
def histories(draw: st.DrawFn) -> list[Commit]:
    commits: list[Commit] = []
    contents: list[dict[bytes, bytes]] = []
    for number in range(draw(st.integers(1, 7))):
        parents = [number - 1] if number else []
        if number > 1 and draw(st.booleans()):
            parents = draw(st.lists(st.integers(0, number - 1), min_size=1, max_size=3, unique=True))
        held = dict(contents[parents[0]]) if parents else {}
        files: dict[bytes, bytes | None] = {}
        for path in draw(st.lists(st.sampled_from(PATHS), max_size=4, unique=True)):
            if path in held and draw(st.booleans()):
                files[path] = None
                del held[path]
            else:
                files[path] = held[path] = draw(st.sampled_from((b"1", b"2", b"3")))
        commits.append(Commit(draw(st.sampled_from(NAMES)), draw(st.sampled_from(DATES)), files, parents, draw(st.sampled_from(MESSAGES))))
        contents.append(held)
    return commits


def raw(directory: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={directory}", *arguments], env=ENV, capture_output=True, check=True, timeout=60).stdout


def tree(directory: Path, commit: str) -> dict[bytes, bytes]:
    records = raw(directory, "ls-tree", "-r", "-z", commit).split(b"\0")
    return {record.partition(b"\t")[2]: record.partition(b"\t")[0] for record in records if record}


def naive(directory: Path, commit: str) -> tuple[int, bytes, set[str]]:
    """Date, author and changed paths of one commit, by its tree and those of its parents."""
    date, author = raw(directory, "show", "-s", "--format=%ct%x00%an", commit).rstrip(b"\n").split(b"\0")
    own = tree(directory, commit)
    parents = [tree(directory, parent) for parent in git(f"--git-dir={directory}", "rev-parse", f"{commit}^@").split()] or [{}]
    paths = set(own).union(*parents)
    return int(date), author, {path_text(path) for path in paths if all(own.get(path) != parent.get(path) for parent in parents)}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_every_commit_is_read_as_its_trees_say(commits: list[Commit]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "r.git"
        ids = write(directory, commits)
        reachable = git(f"--git-dir={directory}", "rev-list", "main").split()
        found = {change.commit: change for change in changes(directory, ids[-1])}
        assert set(found) == set(reachable)
        for commit, change in found.items():
            date, author, paths = naive(directory, commit)
            assert (change.date, set(change.paths)) == (date, paths)
            assert len(change.paths) == len(set(change.paths))
            assert change.author == author.decode("utf-8", "replace")
        for change in changes(directory, ids[-1], messages=True):
            assert replace(change, message="") == found[change.commit]
            whole = raw(directory, "show", "-s", "--format=%B", change.commit).removesuffix(b"\n")
            assert change.message == whole.decode("utf-8", "replace")
        former = reachable[len(reachable) // 2]
        newer = set(git(f"--git-dir={directory}", "rev-list", "main", f"^{former}").split())
        assert {change.commit for change in changes(directory, ids[-1], without=former)} == newer


def test_mailmap_is_that_of_the_commit(tmp_path: Path) -> None:
    mapped = b"Ana Berg <x@example.org>\n"
    ids = write(
        tmp_path / "r.git", [Commit(b"ana", 1_500_000_000, {b"a": b"1"}), Commit(b"ana", 1_500_000_060, {b".mailmap": mapped}, [0])]
    )
    assert [change.author for change in changes(tmp_path / "r.git", ids[1])] == ["Ana Berg", "Ana Berg"]
    assert [change.author for change in changes(tmp_path / "r.git", ids[0])] == ["ana"]
    assert (mailmap_of(tmp_path / "r.git", ids[0]), len(mailmap_of(tmp_path / "r.git", ids[1]))) == ("", 40)


def test_configuration_of_the_clone_changes_nothing(tmp_path: Path) -> None:
    directory = tmp_path / "r.git"
    ids = write(directory, [Commit(b"ana", 1_500_000_000, {b"a": b"1", b"b": b"1"}), Commit(b"ben", 1_500_000_060, {b"a": b"2"}, [0])])
    plain = list(changes(directory, ids[-1]))
    (tmp_path / "names").write_text("Somebody <x@example.org>\n")
    (tmp_path / "grafted").write_text(f"{ids[-1]}\n")
    for key, value in {
        "log.showRoot": "false",
        "mailmap.file": str(tmp_path / "names"),
        "diff.renames": "copies",
        "log.diffMerges": "first-parent",
        "diff.orderFile": "/nowhere",
        "log.follow": "true",
        "i18n.logOutputEncoding": "UTF-16",
        "core.quotePath": "true",
    }.items():
        git(f"--git-dir={directory}", "config", key, value)
    (directory / "info").mkdir(exist_ok=True)
    (directory / "info" / "grafts").write_text(f"{ids[-1]}\n")
    git(f"--git-dir={directory}", "replace", ids[-1], ids[0])
    assert list(changes(directory, ids[-1])) == plain
    assert len(plain) == 2


def test_a_shallow_clone_says_where_it_ends(tmp_path: Path) -> None:
    commits = [Commit(b"ana", 1_500_000_000 + number, {b"f%d" % number: b"1"}, [number - 1] if number else []) for number in range(4)]
    ids = write(tmp_path / "r.git", commits)
    git("clone", "-q", "--bare", "--depth", "2", f"file://{tmp_path}/r.git", tmp_path / "shallow.git")
    assert cut_at(tmp_path / "shallow.git") == {ids[2]}
    assert cut_at(tmp_path / "r.git") == frozenset()
    assert [change.commit for change in changes(tmp_path / "shallow.git", ids[3])] == [ids[3], ids[2]]
    git("clone", "-q", "--depth", "2", f"file://{tmp_path}/r.git", tmp_path / "worktree")
    assert cut_at(tmp_path / "worktree" / ".git") == {ids[2]}


def test_ancestry(tmp_path: Path) -> None:
    ids = write(tmp_path / "r.git", [Commit(b"a", 1, {b"a": b"1"}), Commit(b"a", 2, {b"a": b"2"}, [0]), Commit(b"a", 3, {b"a": b"3"}, [0])])
    assert holds(tmp_path / "r.git", ids[1], ids[0])
    assert not holds(tmp_path / "r.git", ids[2], ids[1])
    assert not holds(tmp_path / "r.git", ids[2], "0" * 40)


def test_a_history_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    directory = tmp_path / "r.git"
    ids = write(directory, [Commit(b"ana", 1_500_000_000, {b"a": b"1"})])
    with pytest.raises(SourceError, match="history"):
        list(changes(directory, "1" * 40))
    with pytest.raises(hardened.GitTimeout):
        list(changes(directory, ids[0], timeout=0.0))
    assert os.path.isdir(directory)  # noqa: PTH112
