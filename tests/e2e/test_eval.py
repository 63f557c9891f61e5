"""`footnote eval` as people use it: a set of questions from an index to figures, a comparison and a history."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Footnote
from tests.index.fixtures import git, make_repository

FILES = {
    "a.py": "def push(job):\n    '''Appends a job to the queue.'''\n",
    "b.py": "def sign(cookie):\n    '''Signs a cookie.'''\n",
    "c.md": "# Paint\n",
}


def _questions(place: Path) -> Path:
    for name in ("one", "two"):
        make_repository(place / "repos" / f"owner+{name}", FILES | {f"{name}.txt": name})
    rows = [
        {
            "id": f"{name}/{path}",
            "repo": f"owner/{name}",
            "commit": git(place / "repos" / f"owner+{name}", "rev-parse", "HEAD"),
            "query": query,
            "language": "python",
            "relevant": [{"path": path}],
        }
        for name in ("one", "two")
        for query, path in (("append a job to the queue", "a.py"), ("the cookie", "b.py"))
    ]
    file = place / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_figures_a_comparison_and_a_history(footnote: Footnote, tmp_path: Path) -> None:
    questions = _questions(tmp_path)
    asked = ("eval", str(questions), "--repos", str(tmp_path / "repos"), "--stage", "grep")
    first = footnote.json(*asked, "--note", "the first")
    assert (first["asked"], first["run"], first["comparison"]) == (4, 1, None)
    assert first["stages"]["grep"]["files"]["ndcg"] == 1.0
    assert first["stages"]["grep"]["files"]["interval"]["ndcg"] == [1.0, 1.0]
    assert set(first["by"]["dataset"]) == {"set"}

    # The options may come first, as they could before there were subcommands.
    shown = footnote.run("eval", "--stage", "grep", "--repos", str(tmp_path / "repos"), str(questions), "--compare", "1").stdout
    assert "no sure change" in shown
    assert "kept as run 2" in shown

    better = json.loads(json.dumps(first))
    for row in better["outcomes"]:
        row["files"]["ndcg"] = 1.2
    (tmp_path / "better.json").write_text(json.dumps(better))
    dropped = footnote.run(*asked, "--compare", str(tmp_path / "better.json"), "--fail-on-drop", "--no-log", code=3)
    assert "RETRIEVAL GOT WORSE since run" in dropped.stderr
    assert "4 got worse" in dropped.stdout
    assert "kept as run" not in dropped.stdout

    history = footnote.run("eval", "history").stdout
    assert "the first" in history
    assert "▄▄  1.0000 -> 1.0000" in history
    assert [run["asked"] for run in footnote.json("eval", "history")["runs"]] == [4, 4]


def test_bad_input_is_one_line(footnote: Footnote, tmp_path: Path) -> None:
    questions = str(_questions(tmp_path))
    repos = ("--repos", str(tmp_path / "repos"))
    assert "'magic' is none of grep, sparse" in footnote.run("eval", questions, *repos, "--stage", "magic", code=2).stderr
    assert "it is a or b" in footnote.run("eval", questions, *repos, "--half", "c", code=2).stderr
    assert "no questions of a run 9" in footnote.run("eval", questions, *repos, "--compare", "9", code=1).stderr
    assert "does not exist" in footnote.run("eval", "hstory", code=2).stderr
    assert "is not indexed yet" in footnote.run("eval", "generate", "--repo", "nothing", code=1).stderr


def test_help_teaches_the_options_and_the_subcommands(footnote: Footnote) -> None:
    text = footnote.run("eval", "--help").stdout
    for word in ("--repos", "--rankings", "--compare", "generate", "gap", "history", "footnote eval questions.jsonl"):
        assert word in text
    assert footnote.run("eval", code=2).stdout + footnote.run("eval", code=2).stderr != ""
    assert "--model" in footnote.run("eval", "gap", "--help").stdout


def test_a_set_from_an_index_is_measured_on_its_own_mirror(larder: Footnote, tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    said = larder.run("eval", "generate", "--repo", "larder", "-n", "6", "--out", str(made)).stderr
    assert "figures on them are optimistic" in " ".join(said.split())
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert 0 < len(rows) <= 6
    plain = larder.json("eval", str(made), "--stage", "sparse", "--no-log")
    blanked = larder.json("eval", str(made), "--stage", "sparse", "--blank", "--no-log")
    assert plain["asked"] == blanked["asked"] == len(rows)
    scores = [found["stages"]["sparse"]["files"]["reciprocal_rank"] for found in (blanked, plain)]
    assert scores[0] <= scores[1]
    assert scores[1] > 0.9
