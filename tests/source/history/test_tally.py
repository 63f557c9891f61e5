"""What is kept of a history, against sums made by hand, and a pass that continues another against one that begins anew."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.source.history import tally
from rag.source.history.changes import Change
from rag.source.history.reading import read_history
from rag.source.history.tally import HALF_LIFE, History, Tally
from tests.source.history.commits import Commit, write
from tests.source.repositories import git

NOW = 1_700_000_000
YEAR = int(HALF_LIFE)
PATHS = ("a.py", "b/c.py", "b/d.py", "e")
AUTHORS = ("Ana", "Ben", "Cem")


def known(history: History) -> dict[tuple[str, str], tuple[int, float, int]]:
    """(path, author) -> commits, weight, last."""
    found = {}
    for number, path in enumerate(history.paths):
        for pair in range(int(history.starts[number]), int(history.starts[number + 1])):
            key = (path, history.authors[int(history.who[pair])])
            found[key] = (int(history.commits[pair]), float(history.weights[pair]), int(history.last[pair]))
    return found


def last_changes(history: History) -> dict[str, tuple[int, str]]:
    names = [*history.authors, ""]
    return {
        path: (int(date), names[int(by)])
        for path, date, by in zip(history.paths, history.changed.tolist(), history.changed_by.tolist(), strict=True)
    }


CHANGES = st.lists(
    st.builds(
        Change,
        commit=st.just("0" * 40),
        date=st.integers(NOW - 5 * YEAR, NOW),
        author=st.sampled_from(AUTHORS),
        paths=st.lists(st.sampled_from((*PATHS, "gone.py")), max_size=5, unique=True).map(tuple),
    ),
    max_size=30,
    unique_by=lambda change: change.date,
)


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.integers(0, 30), st.sampled_from((1, 3, 1000)))
def test_it_adds_up_as_by_hand(commits: list[Change], divided: int, fold_at: int) -> None:
    commits = sorted(commits, key=lambda change: -change.date)
    due: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0])
    last: dict[str, tuple[int, str]] = dict.fromkeys(PATHS, (0, ""))
    for change in commits:
        for path in set(change.paths) & set(PATHS):
            entry = due[path, change.author]
            entry[0] += 1
            entry[1] += 0.5 ** ((NOW - change.date) / HALF_LIFE) / len(change.paths)
            entry[2] = max(entry[2], change.date)
            last[path] = max(last[path], (change.date, change.author))
    former = tally._FOLD_AT
    tally._FOLD_AT = fold_at
    try:
        whole = Tally(PATHS, NOW, NOW, named=True)
        for change in commits:
            whole.add(change)
        history = whole.history("c", "")
        # In two passes, as two builds: the older one counted ages from another moment.
        older = Tally((*PATHS[1:], "other"), NOW - YEAR, NOW, named=True)
        newer = Tally(PATHS[1:], NOW, NOW, named=True)
        for change in commits[divided:]:
            older.add(change)
        for change in commits[:divided]:
            newer.add(change)
        newer.add_former(older.history("b", ""))
        continued = newer.history("c", "")
    finally:
        tally._FOLD_AT = former
    for found, paths in ((history, PATHS), (continued, PATHS[1:])):
        expected = {key: tuple(entry) for key, entry in due.items() if key[0] in paths}
        assert known(found).keys() == expected.keys()
        for key, values in known(found).items():
            assert values == pytest.approx(expected[key])
        assert last_changes(found) == {path: last[path] for path in paths}
        assert set(found.authors) == {key[1] for key in expected}


def test_dates_that_no_clock_had_are_not_believed() -> None:
    counted = Tally(("a", "b", "c"), NOW, NOW + 86_400, named=True)
    for date, path in ((0, "a"), (4_200_000_000, "b"), (-5, "c"), (NOW - YEAR, "c"), (253_402_300_800, "c")):
        counted.add(Change("1" * 40, date, "Ana", (path,)))
    history = counted.history("c", "")
    assert last_changes(history) == {"a": (0, "Ana"), "b": (0, "Ana"), "c": (NOW - YEAR, "Ana")}
    assert all(weight < 1 for _, weight, _ in known(history).values())


def test_a_bulk_commit_weighs_little() -> None:
    counted = Tally(("a",), NOW, NOW, named=True)
    counted.add(Change("1" * 40, NOW, "Formatter", ("a", *(f"other{number}" for number in range(499)))))
    counted.add(Change("2" * 40, NOW - 2 * YEAR, "Ana", ("a",)))
    found = known(counted.history("c", ""))
    assert found["a", "Ana"][1] == pytest.approx(0.25)
    assert found["a", "Formatter"][1] == pytest.approx(1 / 500)


def test_without_names_only_dates_are_kept() -> None:
    counted = Tally(("a",), NOW, NOW, named=False)
    counted.add(Change("1" * 40, NOW - 5, "Ana", ("a",)))
    history = counted.history("c", "")
    assert (history.authors, len(history.who), last_changes(history)) == ((), 0, {"a": (NOW - 5, "")})


def test_pairs_beyond_the_limit_are_those_that_weigh_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_MOST_PAIRS", 2)
    counted = Tally(("a", "b", "c"), NOW, NOW, named=True)
    for age, path in ((0, "c"), (3, "b"), (1, "a")):
        counted.add(Change("1" * 40, NOW - age * YEAR, "Ana", (path,)))
    assert set(known(counted.history("c", ""))) == {("a", "Ana"), ("c", "Ana")}


def agree(one: History, other: History) -> None:
    assert last_changes(one) == last_changes(other)
    assert known(one).keys() == known(other).keys()
    for key, values in known(one).items():
        assert values == pytest.approx(known(other)[key])


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_history_that_is_continued_is_the_one_that_is_read_anew(data: st.DataObject) -> None:
    commits: list[Commit] = []
    for number in range(data.draw(st.integers(2, 7))):
        parents = [number - 1] if number else []
        if number > 1 and data.draw(st.booleans()):
            parents = sorted(data.draw(st.sets(st.integers(0, number - 1), min_size=1, max_size=2)), reverse=True)
        files = {path.encode(): b"%d" % number for path in data.draw(st.lists(st.sampled_from(PATHS), max_size=3, unique=True))}
        commits.append(Commit(data.draw(st.sampled_from(AUTHORS)).encode(), NOW - 10_000 * (20 - number), files, parents))
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "r.git"
        ids = write(directory, commits)
        former = read_history(directory, ids[data.draw(st.integers(0, len(ids) - 1))], PATHS, named=True)
        continued = read_history(directory, ids[-1], PATHS, named=True, former=former)
        agree(continued, read_history(directory, ids[-1], PATHS, named=True))
        assert continued.commit == ids[-1]


def chain(directory: Path, count: int) -> list[str]:
    return write(
        directory, [Commit(b"Ana", NOW + number, {b"a.py": b"%d" % number}, [number - 1] if number else []) for number in range(count)]
    )


def test_only_new_commits_are_read_where_the_last_pass_can_be_continued(tmp_path: Path) -> None:
    ids = chain(tmp_path / "r.git", 5)
    former = read_history(tmp_path / "r.git", ids[3], ("a.py",), named=True)
    forged = History(**{**{name: getattr(former, name) for name in History.__slots__}, "commits": np.array([100], dtype=np.int32)})
    assert known(read_history(tmp_path / "r.git", ids[4], ("a.py",), named=True, former=forged))["a.py", "Ana"][0] == 101
    # Not where the branch was pushed to by force, names are to be left out, or the former commit is gone.
    elsewhere = History(**{**{name: getattr(forged, name) for name in History.__slots__}, "commit": "1" * 40})
    assert known(read_history(tmp_path / "r.git", ids[4], ("a.py",), named=True, former=elsewhere))["a.py", "Ana"][0] == 5
    assert known(read_history(tmp_path / "r.git", ids[2], ("a.py",), named=True, former=forged))["a.py", "Ana"][0] == 3
    assert read_history(tmp_path / "r.git", ids[4], ("a.py",), named=False, former=forged).authors == ()


def test_what_lies_before_a_shallow_clone_is_not_known(tmp_path: Path) -> None:
    ids = write(
        tmp_path / "r.git",
        [Commit(b"Ana", NOW, {b"old": b"1"}), Commit(b"Ben", NOW + 1, {b"mid": b"1"}, [0]), Commit(b"Cem", NOW + 2, {b"new": b"1"}, [1])],
    )
    git("clone", "-q", "--bare", "--depth", "2", f"file://{tmp_path}/r.git", tmp_path / "s.git")
    history = read_history(tmp_path / "s.git", ids[2], ("old", "mid", "new"), named=True)
    assert history.cut
    assert last_changes(history) == {"old": (0, ""), "mid": (0, ""), "new": (NOW + 2, "Cem")}
    assert not read_history(tmp_path / "r.git", ids[2], ("old",), named=True).cut


def test_a_clone_without_blobs_is_enough(tmp_path: Path) -> None:
    ids = chain(tmp_path / "r.git", 3)
    git(f"--git-dir={tmp_path}/r.git", "config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--bare", "--filter=blob:none", f"file://{tmp_path}/r.git", tmp_path / "p.git")
    (tmp_path / "r.git").rename(tmp_path / "away.git")
    assert known(read_history(tmp_path / "p.git", ids[2], ("a.py",), named=True))["a.py", "Ana"][0] == 3


def test_many_commits_take_little_time_and_memory(tmp_path: Path) -> None:
    ids = chain(tmp_path / "r.git", 2_000)
    started = time.process_time()
    history = read_history(tmp_path / "r.git", ids[-1], ("a.py",), named=True)
    assert known(history)["a.py", "Ana"][0] == 2_000
    assert time.process_time() - started < 20  # a few hundredths; a pass that grew with the square of it would take minutes
