"""Repositories and indexes in every state, from the command line: empty, of another model, damaged, never indexed."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.e2e.conftest import Footnote
from tests.index.fixtures import commit_files, git, make_repository


def test_odd_repositories(footnote: Footnote, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet", "--initial-branch", "main")
    assert "no commit" in footnote.run("index", str(empty), code=1).stderr
    single = make_repository(tmp_path / "single", {"only.py": "def lonely():\n    '''The only one.'''\n"})
    report = footnote.json("index", str(single))
    assert (report["documents"], report["chunks"]) == (1, 1)
    assert footnote.json("search", "lonely", "--repo", "single")[0]["path"] == "only.py"
    assert "no branch" in footnote.run("index", str(single), "--branch", "gone", code=1).stderr
    # What stood before the failed build still answers.
    assert footnote.json("search", "lonely", "--repo", "single")[0]["path"] == "only.py"
    plain = tmp_path / "plain"
    plain.mkdir()
    assert "git" in footnote.run("index", str(plain), code=1).stderr


def test_an_index_of_another_model_answers_by_words_until_a_start_has_rebuilt_it(footnote: Footnote, tmp_path: Path) -> None:
    make_repository(tmp_path / "shop", {"a.py": "def price():\n    return 1\n"})
    first = footnote.json("index", str(tmp_path / "shop"))
    (footnote.cwd / "footnote.toml").write_text("[embedding]\ndocument_prompt = 'passage: '\n")
    for words in (("search", "price"), ("search", "price", "--json"), ("ask", "what is the price?", "--json"), ("status",), ("repos",)):
        done = footnote.run(*words)
        shown = done.stdout + done.stderr
        assert "prompt 'passage: ') is configured" in shown, words
        assert "by words alone" in shown
        assert "footnote index shop" in shown
        if "search" in words:
            assert "a.py" in done.stdout
            assert "similarity" not in done.stdout
    answer = footnote.json("ask", "what is the price?")
    assert footnote.json("log", "show", answer["answer_id"])["notices"] == answer["notices"] != []
    (finding,) = [one for one in json.loads(footnote.run("doctor", "--json", code=1).stdout) if one["what"] == "repository shop"]
    assert finding["state"] == "failed"
    assert "is configured" in finding["detail"]
    refused = footnote.run("search", "price", "--min-score", "0.1", code=1)
    assert "cannot be searched by meaning" in refused.stderr

    process = footnote.start("playground", "--port", "0")
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Open ")
        for _ in range(200):  # a build gives way to the tests beside it
            (row,) = footnote.told("status")["repositories"]
            if row["fits"] and row["last_build"]["cause"] == "catch-up":  # told when its process has ended, after it is in use
                break
            time.sleep(0.5)
        (row,) = footnote.json("status")["repositories"]
        assert row["fits"]
        assert row["last_build"]["cause"] == "catch-up"
        assert row["index"]["generation"] != first["generation"]
        assert (row["index"]["dense_ready"], row["problem"]) == (True, "")
        found = footnote.run("search", "price", "--min-score", "-1")
        assert "a.py" in found.stdout
        assert "is configured" not in found.stderr
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_index_before_a_damaged_one_answers_and_status_says_so(footnote: Footnote, tmp_path: Path) -> None:
    source = make_repository(tmp_path / "shop", {"a.py": "def price():\n    return 1\n"})
    first = footnote.json("index", str(source))
    commit_files(source, {"b.py": "def discount():\n    return 1\n"})
    second = footnote.json("index", "shop")
    vectors = footnote.data_dir / "repositories" / "shop" / "generations" / second["generation"] / "dense" / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-8])
    found = footnote.run("search", "price")
    assert "a.py" in found.stdout
    assert "damaged" in found.stderr
    assert first["commit"][:12] in found.stderr
    assert str(footnote.data_dir) not in found.stderr.split("footnote: The newest", 1)[1]
    status = footnote.run("status")
    assert "damaged" in status.stderr
    footnote.run("index", "shop")
    again = footnote.run("search", "discount")
    assert "b.py" in again.stdout
    assert "damaged" not in again.stderr


def test_a_repository_configured_but_never_indexed(footnote: Footnote, tmp_path: Path) -> None:
    source = make_repository(tmp_path / "shop", {"a.py": "def price():\n    return 1\n"})
    (footnote.cwd / "footnote.toml").write_text(f"[[repositories]]\nname = 'shop'\nsource = '{source}'\n")
    done = footnote.run("ask", "what is the price?", code=1)
    assert "shop" in done.stderr
    assert "footnote index shop" in done.stderr
    footnote.run("index", "shop")
    commit = commit_files(source, {"a.py": "def price():\n    return 2\n\n\ndef discount():\n    return 1\n"})
    assert footnote.json("index", "shop")["commit"] == commit
    assert footnote.json("search", "discount", "--limit", "1")[0]["text"].find("discount") >= 0
