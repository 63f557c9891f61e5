"""The table of targets: what it reads, what it says is met, and one run over real repositories from end to end."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.retrieval import rows as rows_of_targets
from benchmarks.retrieval.beyond import let_through
from benchmarks.retrieval.measure import measure
from benchmarks.retrieval.quoted import drawn
from benchmarks.retrieval.rows import FINAL, SHOWN, Cell, Result, fewer_commits
from benchmarks.retrieval.table import as_json, render
from rag.evaluation.datasets import Label, Question, in_half, read_questions
from rag.types import Chunk, Kind
from tests.index.fixtures import git, make_repository


def test_the_threshold_loses_its_share_of_what_can_be_answered() -> None:
    own = [number / 100 for number in range(100)]
    assert let_through(own, own) == 0.95
    assert let_through(own, [0.0, 0.04, 0.05, 0.5]) == 0.5
    assert let_through([0.3], [0.2, 0.3, 0.4]) == pytest.approx(2 / 3)


def test_the_first_commits_of_each_repository() -> None:
    questions = [Question(f"{r}{c}", "s", r, c, "", "?", (Label("a"),)) for r in "xy" for c in "112233"]
    assert [q.id for q in fewer_commits(questions, 2)] == ["x1", "x1", "x2", "x2", "y1", "y1", "y2", "y2"]
    assert fewer_commits(questions, 0) == questions


def test_what_is_met() -> None:
    row = Result("what", tuple(Cell(stage, 0.5) for stage in SHOWN), "0.4", 0.5, 3, 2)
    assert row.met is True
    assert replace(row, target=0.6).met is False
    assert replace(row, target=0.6, at_most=True).met is True
    assert replace(row, questions=0).met is None
    text = render([row, replace(row, name="lost", target=0.6, note="on little")])
    assert "yes" in text
    assert "NO" in text
    assert "lost: on little" in text
    assert [one["met"] for one in as_json([row])] == [True]


def test_without_questions_or_clones_it_says_how_to_get_them(tmp_path: Path) -> None:
    (tmp_path / "concept.jsonl").write_text(
        json.dumps({"id": "1", "repo": "owner/name", "commit": "a" * 40, "query": "?", "relevant": [{"path": "a"}]}) + "\n"
    )

    def run(*words: str) -> str:
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-m", "benchmarks.retrieval", *words]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=150, check=False, env=os.environ)
        assert done.returncode == 2
        return done.stderr

    assert "make bench-retrieval BENCH=DIR REPOS=DIR" in run()
    assert "git clone --bare https://github.com/owner/name.git REPOS/owner+name" in run("--bench", str(tmp_path))


def test_what_is_drawn_stands_in_code_between_quotes_and_in_few_files() -> None:
    def of(path: str, text: str, language: str = "python") -> Chunk:
        return Chunk(path, 1, 1, Kind.MODULE, language, text)

    chunks = [
        of("src/a.py", 'fail("the door is open now", key["door.key"])'),
        of("src/b.py", 'fail("the door is open now"); look("everywhere to be found"); "a/b is no message here"'),
        of("tests/test_a.py", '"a message of some test"'),
        of("README.md", '"a message of some page"', "markdown"),
        *(of(f"src/c{number}.py", '"everywhere to be found", "door.py"') for number in range(3)),
    ]
    assert drawn(chunks, random.Random(1)) == [
        ("message", "the door is open now", ["src/a.py", "src/b.py"], "python"),
        ("key", "door.key", ["src/a.py"], "python"),
    ]


SETUP = Path(rows_of_targets.__file__).parent / "setup.jsonl"


def test_the_set_that_is_kept_here_reads_and_knows_its_kinds() -> None:
    questions = read_questions(SETUP)
    kinds = {question.category for question in questions}
    assert {"dependency", "runtime", "ci", "release", "container", "build", "licence", "lint", "scripts", "code"} == kinds
    assert len({question.repository for question in questions if in_half(question.repository, "a")}) >= 6
    assert len({question.repository for question in questions if in_half(question.repository, "b")}) >= 6


GUIDE = """# The guide of {0}

## How a {0} is made

A {0} is made of several parts that are put together. Then it is painted.

It takes a day, and two people.
"""


async def test_every_row_from_end_to_end(tmp_path: Path, models_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = tmp_path / "bench"
    bench.mkdir()
    rows = []
    for name, verb in (("chair", "carve"), ("lamp", "light")):
        files = {
            f"src/{name}.py": f'def {verb}({name}):\n    """Makes one {name} ready for sale."""\n    return {name}\n',
            f"src/{name}_shop.py": f'def sell(things):\n    raise ValueError("no {name} is left in here", things["{name}.price"])\n',
            f"docs/{name}.md": GUIDE.format(name),
        }
        source = make_repository(tmp_path / "repos" / f"owner+{name}", files)
        rows.append(
            {
                "id": name,
                "dataset": "concept",
                "repo": f"owner/{name}",
                "commit": git(source, "rev-parse", "HEAD"),
                "query": f"how to {verb} the {name}",
                "relevant": [{"path": f"src/{name}.py", "grade": 2}],
                "index_root": "src",
            }
        )
    (bench / "concept.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = tmp_path / "data"
    shutil.copytree(models_directory, data / "evaluation" / "models")
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(data))
    monkeypatch.chdir(tmp_path)
    options = argparse.Namespace(only=None, standing=False, commits=None, save_documentation=tmp_path / "documentation.jsonl")
    results, left_out = await measure(bench, tmp_path / "repos", options)
    by_name = {one.name.split(":")[0]: one for one in results}
    assert by_name["concept, index_root, code's group"].met
    assert (by_name["concept, index_root, code's group"].questions, by_name["concept, index_root, code's group"].repositories) == (2, 2)
    assert [cell.stage for cell in by_name["concept, whole repository, one list"].cells] == list(SHOWN)
    assert by_name["concept, whole repository, code's group"].questions == 2
    assert by_name["documentation, one list"].met is None
    assert by_name["documentation in its group, headings"].questions >= 2
    assert by_name["documentation in its group, sentences"].questions >= 2
    messages, keys = by_name["error messages as they stand, one list"], by_name["keys that nothing defines, one list"]
    assert (messages.questions, keys.questions) == (2, 2)
    assert (messages.cells[-1].value, keys.cells[-1].value) == (1.0, 1.0)
    (foreign,) = [one for one in results if one.name.startswith("foreign")]
    assert foreign.questions == 2
    assert foreign.cells[-1].stage == FINAL
    assert foreign.cells[-1].value == 0.0  # a lamp is no chair
    assert [one.unit for one in results[-2:]] == ["ms", "ms"]
    assert "no index here has 50,000" in results[-1].note
    own = [line for line in left_out if line.startswith("setup: ")]
    assert [line.partition(" were NOT asked")[0] for line in own] == [
        f"setup: {len(read_questions(SETUP))} questions"
    ]  # no clones of those
    assert by_name["how it is set up, one list"].questions == 0
    assert [line for line in left_out if line not in own] == [
        f"{name}: {file}.jsonl is not in {bench}." for file in ("change", "pinpoint", "explain", "issue") for name in (file, f"{file}-code")
    ]
    saved = [json.loads(line) for line in (tmp_path / "documentation.jsonl").read_text().splitlines()]
    assert {row["category"] for row in saved} == {"heading", "sentence"}
    assert render(results)
