"""Reading the questions: the format as it is, and a named line for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag.errors import EvaluationError
from rag.evaluation.datasets import Label, Question, read_questions
from tests.evaluation.synthetic import COMMIT

ROW: dict[str, Any] = {
    "dataset": "concept",
    "id": "set/1",
    "repo": "owner/name",
    "commit": COMMIT,
    "language": "python",
    "query": "how is é handled",
    "relevant": [{"path": "src/a.py", "start_line": 3, "end_line": 9, "grade": 1}, {"path": "b.py", "grade": 2}],
    "index_root": "src/",
    "category": "where",
    "answer": "ignored",
}


def _file(directory: Path, *lines: str) -> Path:
    path = directory / "questions.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_question_as_it_is(tmp_path: Path) -> None:
    small = {"id": "2", "repo": "owner/name", "commit": COMMIT, "query": "?", "relevant": [{"path": "b"}], "index_root": None}
    first, second = read_questions(_file(tmp_path, json.dumps(ROW), "", json.dumps(small)))
    labels = (Label("src/a.py", 3, 9, 1), Label("b.py", None, None, 2))
    assert first == Question("set/1", "concept", "owner/name", COMMIT, "python", "how is é handled", labels, "src", "where")
    assert second == Question("2", "questions", "owner/name", COMMIT, "", "?", (Label("b"),))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relevant": []}, "relevant"),
        ({"relevant": [{"path": "a", "start_line": 3}]}, "start_line and end_line come together"),
        ({"relevant": [{"path": "a", "start_line": 0, "end_line": 3}]}, "start_line"),
        ({"commit": "main"}, "commit"),
        ({"query": ""}, "query"),
        ({"repo": None}, "repo"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = _file(tmp_path, json.dumps(ROW), json.dumps(ROW | {"id": "2"} | change))
    with pytest.raises(EvaluationError, match=rf"line 2: .*{said}"):
        read_questions(path)


def test_no_json_an_id_twice_no_question_no_file(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="line 1: Invalid JSON"):
        read_questions(_file(tmp_path, "{'id': 1}"))
    with pytest.raises(EvaluationError, match=r"line 2: the id 'set/1' is there twice"):
        read_questions(_file(tmp_path, json.dumps(ROW), json.dumps(ROW)))
    with pytest.raises(EvaluationError, match="holds no question"):
        read_questions(_file(tmp_path, "", " "))
    with pytest.raises(EvaluationError, match=r"nowhere\.jsonl cannot be read"):
        read_questions(tmp_path / "nowhere.jsonl")
