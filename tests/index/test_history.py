"""The history beside an index: written by builds, read when asked for, and never worth an index."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from rag.errors import RetrievalError
from rag.index import history_pass
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex
from rag.index.history import HISTORY, HistoryFile, nameless, read_history_file, read_messages, write_history
from rag.index.history_filter import CUT, MASKED, NO_HISTORY, resolved
from rag.index.jobs import BuildJob, job_from_json, job_to_json
from rag.index.messages import Messages, MessageTally
from rag.source.history.changes import Change
from rag.source.history.tally import History
from rag.types import Filters, Repository
from tests.index.fixtures import commit_files, git
from tests.index.test_builder import Room, room

__all__ = ["room"]

JANUARY, MARCH, JUNE = 1_704_067_200, 1_709_251_200, 1_717_200_000  # the first of each, 2024


def sample(**changes: object) -> History:
    """Ana changed a.py last, in March; Ben b.py, in June, which Ana has worked on; of c.py nothing is known."""
    history = History(
        commit="1" * 40,
        reference=JUNE,
        cut=False,
        named=True,
        mailmap="",
        paths=("a.py", "b.py", "c.py"),
        authors=("Ana Berg", "Ben Ode", "Cem"),
        changed=np.array([MARCH, JUNE, 0]),
        changed_by=np.array([0, 1, -1], dtype=np.int32),
        starts=np.array([0, 1, 4, 4]),
        who=np.array([0, 0, 1, 2], dtype=np.int32),
        commits=np.array([1, 2, 1, 1], dtype=np.int32),
        weights=np.array([1.0, 0.5, 1.0, 0.1]),
        last=np.array([MARCH, JANUARY, JUNE, JANUARY]),
    )
    return replace(history, **changes)  # type: ignore[arg-type]


def file_of(directory: Path, history: History | None, *, named: bool = True) -> HistoryFile:
    if history is not None:
        write_history(directory, history)
    return HistoryFile(directory, named=named)


def spoken() -> Messages:
    """Of the same files: a.py was mended once."""
    tally = MessageTally(sample().paths)
    tally.add(Change("1" * 40, MARCH, "Ana Berg", ("a.py",), "Mend the hinge"))
    return tally.messages()


def same(one: History, other: History) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in History.__slots__)


def test_it_reads_what_was_written(tmp_path: Path) -> None:
    for history in (sample(), nameless(sample()), sample(paths=("ä\\xff", "b\n.py", "c.py"), cut=True)):
        write_history(tmp_path, history)
        found = read_history_file(tmp_path / HISTORY)
        assert found is not None
        assert same(found, history)
    assert [path.name for path in tmp_path.iterdir()] == [HISTORY]


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    assert read_history_file(tmp_path / HISTORY) is None
    write_history(tmp_path, sample(), spoken())
    whole = (tmp_path / HISTORY).read_bytes()
    for length in range(0, len(whole) - 1, 97):
        (tmp_path / HISTORY).write_bytes(whole[:length])
        assert read_history_file(tmp_path / HISTORY) is None
        assert read_messages(tmp_path / HISTORY) is None
    for place in range(0, len(whole), 41):
        (tmp_path / HISTORY).write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        read_history_file(tmp_path / HISTORY)  # whatever it says, it raises nothing
        read_messages(tmp_path / HISTORY)
    write_history(tmp_path, sample(who=np.array([0, 0, 1, 7], dtype=np.int32)))
    assert read_history_file(tmp_path / HISTORY) is None
    np.savez(tmp_path / "odd.npz", words=np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8))
    assert read_history_file(tmp_path / "odd.npz") is None


def test_it_is_seen_when_it_arrives_and_when_it_changes(tmp_path: Path) -> None:
    file = file_of(tmp_path, None)
    assert file.get() is None
    write_history(tmp_path, sample())
    first = file.get()
    assert first is not None
    assert file.get() is first
    write_history(tmp_path, nameless(sample()))
    os.utime(tmp_path / HISTORY, ns=(1, 1))
    second = file.get()
    assert second is not None
    assert second.authors == ()
    (tmp_path / HISTORY).unlink()
    assert file.get() is None


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        (Filters(author=("ana",)), {"a.py"}),
        (Filters(author=("ana", "BEN O")), {"a.py", "b.py"}),
        (Filters(since=date(2024, 3, 1)), {"a.py", "b.py"}),
        (Filters(since=date(2024, 3, 2)), {"b.py"}),
        (Filters(before=date(2024, 3, 1)), set()),
        (Filters(before=date(2024, 3, 2)), {"a.py"}),
        (Filters(since=date(2024, 3, 1), before=date(2024, 6, 1), author=("ana",)), {"a.py"}),
        (Filters(since=date(2024, 6, 1), author=("ana",)), set()),
    ],
)
def test_authors_and_dates_become_paths(tmp_path: Path, filters: Filters, files: set[str]) -> None:
    found, told = resolved(filters, file_of(tmp_path, sample()))
    assert found.files == frozenset(files)
    assert told == ()
    assert resolved(found, file_of(tmp_path, None)) == (found, ())


def test_other_filters_ask_nothing_of_the_history(tmp_path: Path) -> None:
    filters = Filters(path=("a",), language=("go",))
    assert resolved(filters, file_of(tmp_path, None)) == (filters, ())


@pytest.mark.parametrize(
    ("filters", "history", "named", "told"),
    [
        (Filters(author=("Anna Borg",)), sample(), True, "The history knows no author Anna Borg. Near: Ana Berg."),
        (Filters(author=("qwertz",)), sample(), True, "The history knows no author qwertz."),
        (Filters(author=("<!channel> @here",)), sample(), True, "The history knows no author channel."),
        (Filters(author=("cem",)), sample(), True, "No file that stands today was last changed by cem."),
        (Filters(author=("ana",)), sample(), False, MASKED),
        (Filters(author=("ana",)), nameless(sample()), True, MASKED),
        (Filters(author=("ana",)), None, True, NO_HISTORY),
        (Filters(since=date(2024, 1, 1)), None, True, NO_HISTORY),
    ],
    ids=["near", "far", "hostile", "never last", "masked", "nameless", "no history", "no dates"],
)
def test_nothing_is_found_and_why_is_said(tmp_path: Path, filters: Filters, history: History | None, named: bool, told: str) -> None:
    found, said = resolved(filters, file_of(tmp_path, history, named=named))
    assert (found.files, said) == (frozenset(), (told,))


def test_masked_names_leave_the_dates(tmp_path: Path) -> None:
    assert resolved(Filters(since=date(2024, 4, 1)), file_of(tmp_path, sample(), named=False))[0].files == frozenset({"b.py"})


def test_a_shallow_clone_is_said_to_be_one(tmp_path: Path) -> None:
    found, told = resolved(Filters(since=date(2024, 4, 1)), file_of(tmp_path, sample(cut=True)))
    assert found.files == frozenset({"b.py"})
    assert told == (CUT,)


def history_of(room: Room) -> History:
    with room.index.open() as generation:
        history = generation.history.get()
    assert history is not None
    return history


def test_a_build_keeps_the_history_and_the_next_one_continues_it(room: Room) -> None:
    report = room.build()
    assert room.stages()[-2:] == ["history", "publish"]
    assert report.notices == ()
    first = history_of(room)
    assert (first.commit, set(first.authors), first.named, first.cut) == (report.commit, {"Ada"}, True, False)
    assert {"README.md", "larder/lockers.py"} <= set(first.paths)
    commit_files(room.source, {"larder/lockers.py": "x = 1\n", "new.py": "y = 2\n"})
    room.build()
    second = history_of(room)
    commits = {path: int(second.commits[int(second.starts[number])]) for number, path in enumerate(second.paths)}
    assert (commits["larder/lockers.py"], commits["new.py"], commits["README.md"]) == (2, 1, 1)
    assert b"ada@example.com" not in b"".join(path.read_bytes() for path in room.index.layout.generations.rglob(HISTORY))


def test_an_index_from_before_gets_it_with_the_next_build_and_stays_as_it_is(room: Room) -> None:
    report = room.build(history="none")
    (directory,) = room.index.layout.generations.iterdir()
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    with room.index.open() as generation:
        assert generation.history.get() is None
        again = room.build()
        assert again.unchanged
        assert again.generation == report.generation
        assert generation.history.get() is not None  # whoever has it open sees it, too
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.name != HISTORY} == before


def test_masking_takes_names_from_what_stands_and_from_what_is_kept(room: Room) -> None:
    room.build()
    commit_files(room.source, {"new.py": "y = 2\n"})
    room.build()
    stored = list(room.index.layout.generations.rglob(HISTORY))
    assert len(stored) == 2
    assert room.build(history="dates").unchanged
    for path in stored:
        history = read_history_file(path)
        assert history is not None
        assert (history.named, history.authors) == (False, ())
        assert history.changed.all()
        assert read_messages(path) is None  # they name people
    assert history_of(room).named is False
    assert room.build().unchanged
    assert history_of(room).authors == ("Ada",)


def test_names_that_are_masked_are_not_told_from_an_index_that_holds_them(room: Room) -> None:
    room.build()
    masked = RepositoryIndex(room.index.layout.directory, EdgeBackend(), room.index._expected, named=False)
    with masked.open() as generation:
        history = generation.history.get()
        assert history is not None
        assert (history.authors, bool(history.changed.all())) == ((), True)
        assert generation.history.messages() is None
    masked.close()


def test_a_history_that_cannot_be_read_costs_no_index(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in (RetrievalError("Made up.", "Nothing."), ValueError("unexpected"), OSError(28, "No space left on device")):

        def fail(*_: object, error: Exception = problem, **__: object) -> History:
            raise error

        monkeypatch.setattr(history_pass, "read_history", fail)
        report = room.build(force=True)
        assert len(report.notices) == 1
        assert "authors and dates are not known" in report.notices[0]
        with room.index.open() as generation:
            assert generation.dense is not None
            assert generation.history.get() is None
    monkeypatch.undo()
    assert room.build().unchanged
    assert history_of(room).authors == ("Ada",)


def test_the_history_reads_an_operators_clone_with_a_work_tree_as_well(room: Room) -> None:
    other = room.source.parent / "linked"
    git(room.source, "worktree", "add", "--quiet", str(other), "HEAD")
    for place in (room.source, other):
        report = room.build(source_git_dir=str(place), force=True)
        assert report.notices == ()
        assert history_of(room).authors == ("Ada",)


def test_the_history_changes_neither_chunks_nor_recipe(room: Room) -> None:
    first = room.build(history="none")
    with room.index.open() as generation:
        ids, recipe = [chunk.id for chunk in generation.chunks.all()], generation.manifest.recipe
    second = room.build(history="names", force=True)
    assert (second.embedded, second.reused) == (0, first.chunks)
    with room.index.open() as generation:
        assert ([chunk.id for chunk in generation.chunks.all()], generation.manifest.recipe) == (ids, recipe)


def test_a_draft_of_a_killed_build_is_deleted(room: Room) -> None:
    room.build()
    (directory,) = room.index.layout.generations.iterdir()
    (directory / f".{HISTORY}.1").write_bytes(b"half")
    room.build()
    assert [path.name for path in directory.glob(".*")] == []


def test_a_job_says_what_is_kept_across_the_pipe(tmp_path: Path) -> None:
    job = BuildJob(Repository("larder", "x"), tmp_path, history="dates")
    assert job_from_json(job_to_json(job)) == job


def test_hostile_names_are_harmless_before_they_are_stored(room: Room) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_COMMITTER_NAME": "c", "GIT_COMMITTER_EMAIL": "c@example.com"}
    for number, name in enumerate(
        ("<!channel> \u202eEve", "@here [x](https://evil.example)", "a" * 10_000, "eve@example.com", "\x1b[31mRed")
    ):
        (room.source / "settings.toml").write_text(f"number = {number}\n")
        author = {**environment, "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": "secret@example.com"}
        subprocess.run(["git", "-C", str(room.source), "commit", "-qam", "m"], check=True, env=author, timeout=60)
    room.build()
    names = history_of(room).authors
    assert len(names) == 6
    assert not set("".join(names)) & set("<>@[]!\u202e\x1b/")
    assert max(map(len, names)) <= 80
    assert "secret" not in "".join(names)
