"""What changed since a saved run, question by question, and what is beyond chance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.answer_log.evaluations import EvalScore
from rag.errors import EvaluationError
from rag.evaluation.compare import compare, loudly, render, scores_of_file, scores_of_report
from rag.evaluation.datasets import Label, Question
from rag.evaluation.export import to_json
from rag.evaluation.metrics import Place, score
from rag.evaluation.report import EvalReport, Outcome


def _run(values: list[float], *, shift: float = 0.0) -> list[EvalScore]:
    return [EvalScore(f"q{n}", "set", f"o/r{n % 5}", "fused", value + shift, value) for n, value in enumerate(values)]


VALUES = [0.2, 0.4, 0.6, 0.8, 0.5] * 4


def test_the_same_run_shows_no_change() -> None:
    found = compare(_run(VALUES), _run(VALUES), "1")
    assert (found.worse, found.better, found.drops) == ((), (), ())
    assert loudly(found) == ""
    assert "no sure change" in render(found)


def test_a_drop_in_every_repository_is_said_loudly() -> None:
    found = compare(_run(VALUES, shift=-0.05), _run(VALUES), "7", {"q0": "how is\nit done"})
    (drop,) = found.drops
    assert (drop.dataset, drop.stage, drop.level, drop.questions) == ("set", "fused", "files", 20)
    assert drop.now - drop.before == pytest.approx(-0.05)
    assert loudly(found).startswith("RETRIEVAL GOT WORSE since run 7")
    text = render(found, most=3)
    assert "DROPPED" in text
    assert "20 got worse, the 3 most:" in text
    assert len(found.worse) == 20


def test_a_drop_in_one_repository_alone_may_be_chance() -> None:
    now = _run(VALUES)
    now[0] = EvalScore("q0", "set", "o/r0", "fused", 0.0, 0.0)
    found = compare(now, _run(VALUES), "1")
    assert [one.id for one in found.worse] == ["q0", "q0"]  # files and lines
    assert found.drops == ()
    assert loudly(found) == ""


def test_a_sure_but_tiny_drop_is_nobodys_business() -> None:
    assert compare(_run(VALUES, shift=-0.0005), _run(VALUES), "1").drops == ()


def test_only_what_both_asked_is_compared_and_the_worst_comes_first() -> None:
    before = [*_run(VALUES), EvalScore("gone", "set", "o/r0", "fused", 1.0, 1.0)]
    now = [EvalScore("q1", "set", "o/r1", "fused", 0.3, 0.4), EvalScore("q3", "set", "o/r3", "fused", 0.1, 0.8)]
    found = compare([*now, EvalScore("new", "set", "o/r0", "fused", 0.0, 0.0)], before, "1")
    assert [one.id for one in found.worse] == ["q3", "q1"]
    assert found.differences[0].questions == 2
    assert compare(now, [], "1").differences == ()
    assert "none of these questions" in render(compare(now, [], "1"))


def _report() -> EvalReport:
    question = Question("q", "set", "o/r", "a" * 40, "go", "where", (Label("a.go", 3, 4),))
    places = (Place("a.go", 9, 9), Place("a.go", 3, 3))
    files, lines = (score(places, question.relevant, lines=level) for level in (False, True))
    return EvalReport(1, ("fused",), (Outcome(question, "fused", places, files, lines, 0.1, 0.5),), (), ())


def test_a_file_from_json_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(to_json(_report())))
    assert scores_of_file(path) == scores_of_report(_report())
    assert scores_of_file(path)[0].files == 1.0 > scores_of_file(path)[0].lines > 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"outcomes": [{"id": 3}]}', '{"outcomes": [3]}'])
def test_what_is_no_run_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(EvaluationError, match="is no saved run"):
        scores_of_file(tmp_path / "run.json")
    with pytest.raises(EvaluationError, match="is no saved run"):
        scores_of_file(tmp_path / "missing.json")
