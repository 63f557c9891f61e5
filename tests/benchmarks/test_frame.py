from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS
from benchmarks.build import CHANGED, historic
from benchmarks.frame import Bench, Side, compared
from benchmarks.material import Material, commit_files, find_clones, make_repository
from benchmarks.report import as_lines, busy
from rag.errors import FootnoteError


def test_a_ratio_is_taken_within_each_round() -> None:
    """The machine was ten times slower in the second round: that changes no ratio."""
    measure = compared("query", "ms", {"ours": [1.0, 10.0, 1.5], "theirs": [3.0, 30.0, 3.0]}, "theirs")
    assert measure.sides == (Side("ours", 1.5, (3.0, 2.0, 3.0)), Side("theirs", 3.0))


def test_more_can_be_better() -> None:
    measure = compared("embed", "chunks/s", {"ours": [40.0], "theirs": [20.0]}, "theirs", better="more")
    assert measure.sides[0].ratio == (2.0, 2.0, 2.0)


def test_sides_take_turns_and_each_round_begins_with_another(tmp_path: Path) -> None:
    order: list[str] = []

    def side(name: str) -> float:
        order.append(name)
        return len(order)

    samples = Bench(tmp_path, Material(), rounds=2, quiet=True).in_turn("x", {"a": lambda: side("a"), "b": lambda: side("b")})
    assert order == ["a", "b", "b", "a"]
    assert samples == {"a": [1, 4], "b": [2, 3]}


def test_the_table_says_what_is_compared_with_what() -> None:
    measure = compared("query", "ms", {"ours": [0.2, 0.2], "theirs": [20.0, 10.0]}, "theirs")
    assert list(as_lines("sparse", [measure])) == [
        "\nsparse",
        "  query",
        "    ours         0.20 ms        75.0 times as fast (50.0 to 100)",
        "    theirs       15.0 ms        1",
    ]


@pytest.mark.parametrize(("loads", "said"), [([0.2, 2.1], False), ([3.0, 2.0], True), ([0.5, 5.0], True), ([None, None], False)])
def test_a_busy_machine_is_said_to_be_one(loads: list[float | None], said: bool) -> None:
    assert bool(busy(loads, 2)) is said


def test_a_fixed_text_is_cut_and_secrets_are_not_in_it() -> None:
    chunks = Material().chunks(40)
    assert len(chunks) == 40
    assert Material().chunks(20) == chunks[:20]


def test_clones_are_found_where_they_lie(tmp_path: Path) -> None:
    for name in ("b", "owner/name", "a.git"):
        make_repository(tmp_path / name, {"x.py": "x = 1\n"})
    (tmp_path / "empty").mkdir()
    assert [str(path.relative_to(tmp_path)) for path in find_clones(tmp_path)] == ["a.git", "b", "owner/name"]


def test_the_change_is_taken_from_a_clones_own_history(tmp_path: Path) -> None:
    files = {f"part_{number}.py": "x = 1\n" for number in range(200)}
    clone = make_repository(tmp_path / "clone", files)
    with pytest.raises(FootnoteError, match="single commit"):
        historic(clone)
    commits = [commit_files(clone, {f"part_{number}.py": "x = 2\n"}) for number in range(6)]
    step = historic(clone)
    assert (step.before, step.after, step.files) == (commits[3], commits[5], round(CHANGED * 200))


def test_help_names_every_benchmark_and_a_wrong_name_is_refused() -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "benchmarks", *words], capture_output=True, text=True, timeout=60, check=False)

    shown = run("--help")
    assert shown.returncode == 0
    assert all(f"\n  {name}" in shown.stdout for name in BENCHMARKS)
    assert run("--only", "nothing").returncode == 2
