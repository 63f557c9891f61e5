from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks.retrieval.wordings import around, edits
from benchmarks.retrieval.wordings.measure import FAMILIES, WORDINGS, Found, Pair, drawn, measure, worded
from benchmarks.retrieval.wordings.table import as_json, render
from benchmarks.retrieval.wordings.wording import Wording, kind_of
from rag.evaluation.datasets import Label, Question
from rag.evaluation.indexes import EvalIndexes
from rag.retrieval.settings import RetrievalSettings
from tests.index.fixtures import git, make_repository

TEXTS = {
    "symbol": "Depot::Station",
    "phrase": "locker door_timeout configuration",
    "clause": "how the depot normalizes the parcelShelf",
    "question": "What does the `lockerDoor` database do?",
}


def question(number: int, text: str) -> Question:
    return Question(f"own/{number}", "own", "example/depot", "0" * 40, "python", text, (Label("depot/door.py"),))


@pytest.mark.parametrize(("kind", "text"), TEXTS.items())
def test_the_kind_of_a_question(kind: str, text: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize("wording", around.WORDINGS, ids=lambda wording: wording.name)
def test_what_stands_around_a_question_leaves_it_as_it_is(wording: Wording) -> None:
    said = wording.say(TEXTS["phrase"], Random(0))
    assert said is not None
    assert said != TEXTS["phrase"]
    assert TEXTS["phrase"] in said.replace("\u00a0", " ")


def test_a_third_of_the_wrappers_is_a_test() -> None:
    unread = [wording for wording in around.WORDINGS if wording.unread]
    assert len(around.WORDINGS) >= 25
    assert len(unread) >= len(around.WORDINGS) / 3
    families = {"unread wrappers", "wrappers written afterwards"}
    assert all(wording.unread == (wording.family in families) for wording in WORDINGS)


def test_a_slip_is_one() -> None:
    for wording in edits.WORDINGS:
        if wording.family == "typo":
            for seed in range(20):
                said = wording.say("how the depot normalizes parcels", Random(seed))
                assert said is None or (abs(len(said) - len("how the depot normalizes parcels")) <= 1 and said.startswith("how the depot"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("snake_case", "the parcelShelf", "the parcel_shelf"),
        ("camelCase", "the parcel_shelf", "the parcelShelf"),
        ("in words", "the HTTPDoorServer", "the http door server"),
        ("with-hyphens", "the parcelShelf", "the parcel-shelf"),
        ("joined", "the parcel_shelf", "the parcelshelf"),
        ("joined", "the shelf", None),
        ("British", "normalizes the color", "normalises the colour"),
        ("American", "the serialiser's behaviour", "the serializer's behavior"),
        ("short for long", "the configuration of the request", "the config of the req"),
        ("long for short", "the db", "the database"),
        ("Scope::name", "Depot#open", "Depot::open"),
        ("a question mark behind", "the shelf", "the shelf?"),
        ("a question mark behind", "which shelf?", None),
        ("Title Case", "the shelf", "The Shelf"),
    ],
)
def test_other_letters(name: str, text: str, said: str | None) -> None:
    [wording] = [one for one in edits.WORDINGS if one.name == name]
    assert wording.say(text, Random(0)) == said


def test_the_same_wordings_in_each_run() -> None:
    for number, text in enumerate(TEXTS.values()):
        once, again = (worded(question(number, text), 2) for _ in range(2))
        assert once == again
        assert all(kind_of(text) in wording.kinds and said != "" for wording, said in once)
        assert max(sum(wording.family == family for wording, _ in once) for family in FAMILIES) == 2
        assert {wording.family for wording, _ in worded(question(number, text), 2, ["markup"])} == {"markup"}


def test_questions_are_drawn_once_and_for_all(tmp_path: Path) -> None:
    lines = [
        {"dataset": "change", "id": f"c{n}", "repo": "example/depot", "commit": "0" * 40, "language": "go", "query": f"Open {n}\n\nShut.",
         "relevant": [{"path": "door.go"}]}
        for n in range(99)
    ]  # fmt: skip
    (tmp_path / "change.jsonl").write_text("\n".join(map(json.dumps, lines)))
    once, again = drawn(tmp_path), drawn(tmp_path)
    assert once == again
    assert len(once) == 50
    assert all(one.text.startswith("Open ") and "\n" not in one.text for one in once)
    assert len(drawn(tmp_path, 0.1)) == 5


def test_the_table_says_what_changed() -> None:
    [wording] = [one for one in WORDINGS if one.name == "ALL CAPITALS"]
    pair = Pair(question(0, "door"), wording, "DOOR", Found(1.0, 0.8, "code", 0.9), Found(0.5, 0.6, "prose", 0.05))
    row = next(line for line in render([pair]).splitlines() if line.startswith("case"))
    assert row.split()[:6] == ["case", "1", "1.000", "0.500", "-0.500", *row.split()[5:6]]
    assert "100.0%" in row
    assert "ALL CAPITALS" in render([pair], each_wording=True)
    assert as_json([pair])[0] | {"text": "DOOR", "one_list_plain": 1.0, "leads_said": "prose"} == as_json([pair])[0]


async def test_a_wrapped_question_finds_the_same(tmp_path: Path, models_directory: Path) -> None:
    files = {
        "src/lamp.py": 'def light(lamp):\n    """Lights one lamp."""\n    return lamp\n',
        "docs/lamp.md": "# Lamps\n\nA lamp is lit.\n",
    }
    source = make_repository(tmp_path / "repos" / "owner+lamp", files)
    shutil.copytree(models_directory, tmp_path / "data" / "models")
    asked = Question("lamp", "own", "owner/lamp", git(source, "rev-parse", "HEAD"), "python", "how a Lamp is lit", (Label("src/lamp.py"),))
    gone = Question("gone", "own", "owner/gone", "0" * 40, "python", "how a Lamp is lit", (Label("src/lamp.py"),))
    indexes = EvalIndexes(tmp_path / "repos", tmp_path / "data")
    try:
        pairs, left_out = await measure([asked, gone], indexes, RetrievalSettings(), lambda message: None, each=3, only=["markup", "case"])
    finally:
        indexes.close()
    assert [pair.wording.family for pair in pairs] == 3 * ["markup"] + 3 * ["case"]
    assert all(pair.before == pairs[0].before for pair in pairs)
    assert all(pair.after == pair.before for pair in pairs if pair.wording.family == "markup")
    assert [line.partition(" ")[0] for line in left_out] == ["owner/gone"]


def test_it_says_what_it_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.retrieval.wordings", "--bench", str(tmp_path), "--repos", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 2
    assert "there are no questions" in run.stderr
