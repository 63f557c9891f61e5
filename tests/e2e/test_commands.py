"""The command line as people use it: what it prints, what `--json` promises, what bad input gets."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from rag.embedding.models import EmbeddingSettings, describe
from tests.e2e.conftest import ROOT, Footnote
from tests.index.fixtures import git, make_repository

RESULT_KEYS = {
    *("rank", "id", "path", "start_line", "end_line", "kind", "group"),
    *("symbol", "language", "score", "scores", "permalink", "twins", "text"),
}


def test_index_reports_and_the_second_time_embeds_nothing(footnote: Footnote, sample_source: Path) -> None:
    report = footnote.json("index", str(sample_source), "--name", "larder")
    assert {"repository", "commit", "generation", "documents", "chunks", "embedded", "reused", "skipped", "seconds"} <= report.keys()
    assert report["commit"] == git(sample_source, "rev-parse", "HEAD")
    assert report["embedded"] == report["chunks"] > 0
    again = footnote.json("index", "larder")
    assert again["unchanged"]
    forced = footnote.json("index", "larder", "--force")
    assert (forced["embedded"], forced["reused"]) == (0, report["chunks"])
    (row,) = footnote.json("repos")
    assert (row["name"], row["by_hand"], row["index"]["commit"]) == ("larder", True, report["commit"])


def test_a_repository_answers_before_its_model_is_exported(tmp_path: Path, sample_source: Path) -> None:
    """Somebody else holds the lock on the export all the while: whatever waits for a model does not come to an end."""
    (tmp_path / "home").mkdir()
    footnote = Footnote(tmp_path / "data", tmp_path / "home")
    spec = describe(EmbeddingSettings())
    export = footnote.data_dir / "models" / spec.weights_hash[:16] / spec.backend
    export.parent.mkdir(parents=True)
    with FileLock(export.parent / f"{export.name}.lock", timeout=10):
        indexing = footnote.start("index", str(sample_source), "--name", "larder")
        try:
            assert indexing.stderr is not None
            assert any("It can be asked now" in line for line in indexing.stderr)
            shown = footnote.run("search", "who puts a parcel into a free locker", "--repo", "larder", "--limit", "3")
            answer = footnote.json("ask", "How is a parcel assigned to a locker?", "--repo", "larder")
            assert indexing.poll() is None
        finally:
            indexing.terminate()
            indexing.communicate(timeout=60)
        assert not export.exists()
    assert "larder/lockers.py" in shown.stdout
    assert "found by words alone" in shown.stdout + shown.stderr
    assert answer["citations"]
    assert any("found by words alone" in notice for notice in answer["notices"])


def test_search_finds_explains_and_filters(larder: Footnote) -> None:
    found = larder.json("search", "who puts a parcel into a free locker", "--repo", "larder", "--limit", "3")
    assert all(row.keys() >= RESULT_KEYS for row in found)
    assert [row["rank"] for row in found] == [1, 2, 3]
    assert found[0]["path"] == "larder/lockers.py"
    text = found[0]["text"].split("\n")
    assert len(text) == found[0]["end_line"] - found[0]["start_line"] + 1
    assert {"sparse", "similarity", "distance", "dense", "fused"} <= found[0]["scores"].keys()

    only_go = larder.json("search", "retry after a failure", "--language", "go")
    assert {row["path"] for row in only_go} == {"gate/retry.go"}
    assert {row["path"] for row in larder.json("search", "notice", "--path", "web/**")} == {"web/notify.js"}
    assert larder.json("search", "parcel", "--path", "nowhere/**") == []
    high = larder.json("search", "parcel", "--min-score", "0.99")
    assert high == []
    explained = larder.run("search", "notice", "--explain").stdout
    assert "web/notify.js" in explained
    assert "sparse" in explained


def test_index_explains_every_file_and_its_chunks(larder: Footnote, sample_source: Path) -> None:
    found = larder.json("index", "larder", "--explain")
    assert [file["path"] for file in found["files"]] == sorted(git(sample_source, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    assert {"path", "language", "chunks", "skipped", "fallback", "cut_lines", "explanation"} == found["files"][0].keys()
    assert found["total"] == found["indexed"] + sum(reason["files"] for reason in found["skipped"]) == len(found["files"])
    assert found["index"]["commit"] == git(sample_source, "rev-parse", "HEAD")
    shown = larder.run("index", str(sample_source), "--explain").stdout.splitlines()  # by its path too
    assert f"{found['total']} files, {found['indexed']} in the index with {found['chunks']} chunks, 0 left out" in shown[0]
    assert [line.split() for line in shown[1:]] == [[str(file["chunks"]), file["language"], file["path"]] for file in found["files"]]

    counted = larder.json("index", "larder", "--stats")
    assert counted["total"]["chunks"] == found["chunks"] == sum(row["chunks"] for row in counted["languages"])
    assert counted["total"]["over_window_share"] == 0
    assert {row["language"] for row in counted["languages"]} == {file["language"] for file in found["files"]}
    table = larder.run("index", "--stats").stdout  # there is only one
    assert "over 256" in table
    assert all(row["language"] in table for row in counted["languages"])


def test_index_explains_what_is_left_out_and_only_what_is_indexed(footnote: Footnote, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "def price():\n    return 1\n",
        "logo.png": b"\x89PNG\0",
        "evil\n\x1b[2J.lock": "x",
        "Cargo.lock": "x",
        "b/.env": "K=v",
    }
    make_repository(tmp_path / "shop", files)
    assert "no repository" in footnote.run("index", str(tmp_path / "shop"), "--explain", code=1).stderr
    footnote.run("index", str(tmp_path / "shop"))
    shown = footnote.run("index", "shop", "--explain").stdout
    assert "\x1b" not in shown
    assert "5 files, 2 in the index with 2 chunks, 3 left out" in shown
    assert "logo.png  left out: binary (no text)" in shown
    assert "left out: 1 file: lock file (written by a package manager)" in shown
    assert len(shown.splitlines()) == 1 + 5 + 3
    assert "no repository shops" in footnote.run("index", "shops", "--stats", code=1).stderr


def test_ask_streams_an_answer_and_logs_it_completely(larder: Footnote) -> None:
    shown = larder.run("ask", "How is a parcel assigned to a locker?").stdout
    assert "[1]" in shown
    answer = larder.json("ask", "How is a parcel assigned to a locker?", "--repo", "larder")
    assert {"answer_id", "answer", "abstained", "citations", "generator", "seconds"} <= answer.keys()
    assert not answer["abstained"]
    assert {"number", "path", "start_line", "end_line", "commit", "permalink"} <= answer["citations"][0].keys()
    logged = larder.json("log", "show", answer["answer_id"])
    assert logged["text"] == answer["answer"]
    assert logged["results"]
    assert {"retrieve", "generate", "total"} & logged["seconds"].keys()
    assert larder.json("log", "--limit", "1")[0]["id"] == answer["answer_id"]


def test_a_question_from_elsewhere_is_declined_not_answered(larder: Footnote) -> None:
    answer = larder.json("ask", "quarterly kubernetes billing invoice helm chart")
    assert answer["abstained"]
    assert answer["citations"] == []


def test_chat_takes_questions_until_exit(larder: Footnote) -> None:
    done = larder.run("chat", "--repo", "larder", stdin="how are expired parcels found?\n\nexit\n")
    assert "larder/expiry.py" in done.stdout


def test_status_and_doctor_say_what_there_is(larder: Footnote) -> None:
    status = larder.json("status")
    assert status["repositories"][0]["last_build"]["ok"]
    assert status["building"] == []
    findings = {one["what"]: one for one in larder.json("doctor")}
    assert findings["embedding model"]["state"] == "ok"
    assert findings["dense store"]["state"] == "ok"
    assert findings["Groq"]["state"] == "off"
    assert findings["Slack"]["state"] == "off"


def test_doctor_fails_where_something_configured_is_missing(larder: Footnote) -> None:
    done = larder.run("doctor", code=1, env={"SLACK_BOT_TOKEN": "xoxb-alone"})
    assert "SLACK_APP_TOKEN is not set" in done.stdout


def test_commands_beside_a_running_bot_ask_it(larder: Footnote, playground: str) -> None:
    status = larder.json("status")
    assert status["owner"] == "footnote playground"
    assert status["scheduled"]
    found = larder.json("search", "who puts a parcel into a free locker", "--limit", "1")
    assert found[0]["path"] == "larder/lockers.py"
    assert larder.json("index", "larder")["unchanged"]
    assert len(larder.json("index", "larder", "--explain")["files"]) == larder.json("index", "larder", "--stats")["total"]["files"] == 7
    answer = larder.json("ask", "who puts a parcel into a free locker?")
    assert answer["citations"]
    refused = larder.run("playground", "--port", "0", code=1)
    assert "in use by process" in refused.stderr


def test_a_command_loads_neither_slack_nor_the_clock() -> None:
    """They would be a good part of the time that `footnote search` takes."""
    heavy = ("slack_bolt", "slack_sdk", "apscheduler", "playground", "torch", "sentence_transformers")
    code = f"import sys, bot.cli.main, bot.engine, bot.wiring.parts; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["index", "/nowhere/at/all"], "'/nowhere/at/all' does not exist"),
        (["index", "https://127.0.0.1/x.git"], "private address"),
        (["index", "ext::sh -c touch${IFS}x"], "ext::"),
        (["index", "https://user:hunter2@example.com/x.git"], "a secret"),
        (["index", "--", "--upload-pack=touch x"], "--upload-pack"),
        (["search", "x", "--repo", "nothing"], "no repository nothing"),
        (["ask", "x", "--repo", "nothing"], "no repository nothing"),
        (["log", "show", "nothing"], "no answer nothing"),
        (["serve"], "SLACK_BOT_TOKEN"),
    ],
)
def test_bad_input_gets_one_clear_line(larder: Footnote, words: list[str], problem: str) -> None:
    done = larder.run(*words, code=1)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("footnote: ")
    assert problem in lines[0]
    assert "hunter2" not in done.stderr


def test_json_errors_are_json_too(larder: Footnote) -> None:
    done = larder.run("search", "x", "--repo", "nothing", "--json", code=1)
    assert json.loads(done.stdout)["error"] == "NotIndexed"


def test_usage_errors_exit_2(larder: Footnote) -> None:
    larder.run("search", code=2)
    larder.run("index", "x", "--nonsense", code=2)
    larder.run("index", "--force", code=2)
    larder.run("index", "x", "--explain", "--stats", code=2)
    larder.run("search", "x", "--limit", "0", code=2)


def test_control_characters_of_a_repository_do_not_reach_the_terminal(footnote: Footnote, tmp_path: Path) -> None:
    make_repository(tmp_path / "hostile", {"evil.py": "def evil():\n    return '\x1b]0;owned\x07'\n"})
    footnote.run("index", str(tmp_path / "hostile"))
    assert "\x1b" not in footnote.run("search", "evil").stdout
    assert "\x1b" not in footnote.run("ask", "what does evil return?").stdout


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_closed_pipe_is_no_error(larder: Footnote, option: str) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shlex.quote(sys.executable)} -m bot search parcel {option} | true"],
        cwd=larder.cwd,
        env={**larder.environment, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_who_and_when(larder: Footnote) -> None:
    """Ada committed all of it on 2026-01-05."""
    asked = ("search", "a free locker", "--repo", "larder")
    found = larder.json(*asked, "--author", "ADA", "--since", "2026-01")
    assert "larder/lockers.py" in {row["path"] for row in found}
    assert larder.json(*asked, "--before", "2026-01-05") == []
    nobody = larder.run(*asked, "--author", "Adah")
    assert "The history knows no author Adah. Near: Ada." in nobody.stderr
    assert "'soon' is no date" in larder.run(*asked, "--since", "soon", code=1).stderr
    answer = larder.json("ask", "Who knows about free lockers?", "--repo", "larder")
    assert (answer["generator"], answer["abstained"]) == ("history", False)
    assert "- **Ada** last changed `larder/lockers.py` on 2026-01-05 (1 commit) [1]" in answer["answer"]
    assert answer["citations"][0]["path"] == "larder/lockers.py"


def test_masked_names_are_nowhere(footnote: Footnote, sample_source: Path) -> None:
    (footnote.cwd / "footnote.toml").write_text('[privacy]\nnames = "masked"\n')
    footnote.json("index", str(sample_source), "--name", "larder")
    masked = footnote.json("ask", "Who knows about free lockers?")
    assert masked["abstained"]
    assert "Ada" not in masked["answer"]
    for path in (footnote.data_dir / "repositories").rglob("history.npz"):
        assert b"Ada" not in path.read_bytes()
    assert "masked" in footnote.run("search", "a free locker", "--author", "Ada").stderr
