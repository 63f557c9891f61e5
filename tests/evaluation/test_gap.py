"""The real model tells a question's own place from others; what measures it is checked on numbers made by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.embedding.models import EmbeddingSettings
from rag.errors import EvaluationError
from rag.evaluation.datasets import read_questions
from rag.evaluation.gap import GapReport, area, measure_gap, render
from tests.index.fixtures import git, make_repository

values = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=20)


@given(values, values)
def test_the_area_is_the_share_of_pairs_in_order(above: list[float], below: list[float]) -> None:
    wins = sum((1.0 if a > b else 0.5 if a == b else 0.0) for a in above for b in below)
    assert area(np.array(above), np.array(below)) == pytest.approx(wins / (len(above) * len(below)))


def _report(auc: float) -> GapReport:
    return GapReport("m", 2, np.array([0.8, 0.6]), np.array([0.1, 0.2, 0.3]), auc, auc)


def test_in_words_and_bars() -> None:
    assert _report(0.95).gap == pytest.approx(0.5)
    verdicts = [_report(auc).verdict for auc in (0.95, 0.8, 0.7, 0.5)]
    assert len(set(verdicts)) == 4
    assert "do not use it" in verdicts[-1]
    text = render(_report(0.95))
    assert "median 0.700" in text
    assert "median 0.200" in text
    assert "█" in text
    assert "AUC 0.950" in text


FILES = {
    "queue.py": '"""Jobs."""\n\n\ndef push_job(queue, job):\n    """Appends a job to the end of the queue."""\n    queue.append(job)\n',
    "cookie.py": 'def sign_cookie(value, key):\n    """Signs a session cookie with the secret key."""\n    return value + key\n',
    "colour.py": '"""Colours."""\n\n\ndef mix(red, blue):\n    """Mixes two paints to violet."""\n    return red + blue\n',
    "mail.py": '"""Mail."""\n\n\ndef send(address, text):\n    """Delivers a letter to a mailbox."""\n    return address, text\n',
}


async def test_the_packaged_model_on_a_real_repository_without_an_index_of_vectors(tmp_path: Path, models_directory: Path) -> None:
    source = make_repository(tmp_path / "repos" / "paints", FILES)
    commit = git(source, "rev-parse", "HEAD")
    asked = [("how is a session cookie signed", "cookie.py"), ("add a job to the queue", "queue.py"), ("mixing paint", "colour.py")]
    rows = [
        {"id": path, "repo": "paints", "commit": commit, "query": query, "relevant": [{"path": path}]}
        for query, path in [*asked, ("anything", "not-there.py")]
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data_dir = tmp_path / "evaluation"
    shutil.copytree(models_directory, data_dir / "models")
    questions = read_questions(tmp_path / "q.jsonl")

    async def measured() -> GapReport:
        return await measure_gap(questions, tmp_path / "repos", data_dir=data_dir, embedding=EmbeddingSettings(threads=1))

    report = await measured()
    assert (report.questions, len(report.matching), len(report.others)) == (3, 3, 15)  # the last one's place is not there
    assert report.auc > 0.9
    assert report.gap > 0.1
    assert not list(data_dir.glob("repositories/*/generations/*/dense"))
    again = await measured()
    assert (again.auc, again.matching.tolist()) == (report.auc, report.matching.tolist())

    with pytest.raises(EvaluationError, match="No question has a place"):
        await measure_gap(questions[3:], tmp_path / "repos", data_dir=data_dir, embedding=EmbeddingSettings(threads=1))
    with pytest.raises(EvaluationError, match="No question has a place"):
        await measure_gap(questions, tmp_path, data_dir=data_dir / "other", embedding=EmbeddingSettings(threads=1))
