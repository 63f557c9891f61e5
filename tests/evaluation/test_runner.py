"""An evaluation from the file of questions to the rankings, over real repositories, builds and retrieval."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag.embedding.models import EmbeddingSettings
from rag.errors import EvaluationError
from rag.evaluation.export import to_json
from rag.evaluation.report import EvalReport
from rag.evaluation.runner import RANKED, STAGES, EvalProgress, EvalSettings, evaluate, select
from rag.evaluation.tables import render
from rag.retrieval.reranking.judge import GeneratorReranker
from rag.retrieval.reranking.stage import Reranking, RerankSettings
from tests.retrieval.reranking.servers import Judging, verdict

SESSION = '''"""Sessions."""


def sign_cookie(value, key):
    """Signs a session cookie with the secret key."""
    return value + key
'''
ROUTER = '''"""Routing."""


class Router:
    def match(self, path):
        """Finds the view function for a URL path."""
        return path
'''
TEMPLATE = '''"""Templates."""


def render(name, context):
    """Fills an HTML template with values."""
    return name
'''
PROSE = """# Sessions

How a session cookie is signed with the secret key, in prose. Session, session, session.
"""
FILES = {"src/session.py": SESSION, "src/router.py": ROUTER, "src/template.py": TEMPLATE, "docs/session.md": PROSE}


@dataclass(frozen=True)
class Clones:
    directory: Path
    commits: dict[str, str]


def _repository(directory: Path, files: dict[str, str]) -> str:
    environment = os.environ | {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(directory), *arguments], check=True, env=environment, capture_output=True, text=True).stdout

    directory.mkdir(parents=True)
    git("init", "-q")
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    git("add", ".")
    git("commit", "-qm", "All")
    return git("rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Clones:
    """owner/one with a work tree, owner/two bare."""
    directory = tmp_path_factory.mktemp("repos")
    one = _repository(directory / "owner+one", FILES)
    work = tmp_path_factory.mktemp("work") / "two"
    two = _repository(work, {"lib/queue.go": "package lib\n\n// Push appends a job to the queue.\nfunc Push(job string) {\n}\n"})
    (directory / "owner").mkdir()
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(directory / "owner" / "two")], check=True)
    return Clones(directory, {"owner/one": one, "owner/two": two})


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory, models_directory: Path) -> Path:
    """Of the evaluation; kept over the tests of this module, as between runs."""
    directory = tmp_path_factory.mktemp("evaluation")
    shutil.copytree(models_directory, directory / "models")
    return directory


def _question(name: str, repository: str, commit: str, query: str, path: str, **lines: int) -> dict[str, object]:
    return {
        "id": name,
        "dataset": "test",
        "repo": repository,
        "commit": commit,
        "language": "",
        "query": query,
        "relevant": [{"path": path, **lines}],
        "index_root": path.split("/")[0],
    }


@pytest.fixture
def questions(tmp_path: Path, clones: Clones) -> Path:
    one, two = clones.commits["owner/one"], clones.commits["owner/two"]
    rows = [
        _question("sign", "owner/one", one, "how is a session cookie signed", "src/session.py", start_line=4, end_line=6),
        _question("add", "owner/two", two, "add work to be done later", "lib/queue.go"),
        _question("route", "owner/one", one, "find the view function for a URL", "src/router.py", start_line=5, end_line=7),
        _question("lost", "owner/three", one, "anything", "a.py"),
        _question("gone", "owner/two", "f" * 40, "anything", "a.py"),
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _ranked(path: Path) -> dict[str, list[dict[str, object]]]:
    return {row["id"]: row["results"] for row in map(json.loads, path.read_text().splitlines())}


async def _evaluate(
    questions: Path,
    clones: Clones,
    data_dir: Path,
    *,
    only: Collection[str] = (),
    rankings: Path | None = None,
    on_progress: Callable[[EvalProgress], None] = lambda progress: None,
    reranking: Reranking | None = None,
    **more: Any,
) -> EvalReport:
    settings = EvalSettings(data_dir, embedding=EmbeddingSettings(threads=1), **more)
    wanted = select([questions], only=only)
    return await evaluate(wanted, clones.directory, settings, rankings=rankings, on_progress=on_progress, reranking=reranking)


async def test_the_floor_needs_no_index(questions: Path, clones: Clones, tmp_path: Path) -> None:
    rankings = tmp_path / "out.jsonl"
    report = await _evaluate(questions, clones, tmp_path / "empty", stages=["grep"], rankings=rankings)
    assert not (tmp_path / "empty").exists()
    assert report.indexes == ()
    found = _ranked(rankings)
    assert list(found) == ["sign", "add", "route"]
    assert [place["path"] for place in found["sign"]] == ["docs/session.md", "src/session.py", "src/router.py"]
    assert set(found["sign"][0]) == {"path", "start_line", "end_line", "score"}


async def test_every_stage_from_one_index_each_and_again_from_what_stands(
    questions: Path, clones: Clones, data_dir: Path, tmp_path: Path
) -> None:
    seen: list[EvalProgress] = []
    rankings = tmp_path / "out.jsonl"
    first = await _evaluate(questions, clones, data_dir, root=True, rankings=rankings, on_progress=seen.append)
    assert [(index.repository, index.root, index.built) for index in first.indexes] == [
        ("owner/one", "src", True),
        ("owner/two", "lib", True),
    ]
    assert {progress.step for progress in seen} == {"index", "ask"}
    assert all(progress.total == 5 for progress in seen)
    assert (first.questions, len(first.asked), len(first.outcomes)) == (5, 3, 3 * len(STAGES))

    said = {stage: [outcome.confidence for outcome in first.of(stage)] for stage in STAGES}
    assert said["grep"] == said["sparse"] == [None] * 3
    assert all(confidence is not None and 0 < confidence <= 1 for confidence in said["dense"])

    again = await _evaluate(questions, clones, data_dir, root=True)
    assert [index.built for index in again.indexes] == [False, False]
    assert [(o.question.id, o.stage, o.places) for o in again.outcomes] == [(o.question.id, o.stage, o.places) for o in first.outcomes]

    for stage in STAGES:
        found = _ranked(tmp_path / f"out.{stage}.jsonl")
        assert list(found) == ["sign", "add", "route"]
        assert all(str(place["path"]).startswith("src/") for place in found["sign"])  # only the index root
        assert len(found["sign"]) <= RANKED
        scores = [float(str(place["score"])) for place in found["sign"]]
        assert scores == sorted(scores, reverse=True)
    assert not rankings.exists()
    assert _ranked(tmp_path / "out.dense.jsonl")["add"][0]["path"] == "lib/queue.go"
    assert _ranked(tmp_path / "out.sparse.jsonl")["sign"][0]["path"] == "src/session.py"
    assert first.means("fused").reciprocal_rank == 1.0
    assert first.means("ranked", lines=True).recall == 1.0
    assert first.means("fused", repository="owner/two").ndcg == 1.0


async def test_sparse_alone_embeds_nothing(questions: Path, clones: Clones, tmp_path: Path) -> None:
    data_dir = tmp_path / "evaluation"
    report = await _evaluate(questions, clones, data_dir, stages=["sparse"], only=["owner/one"])
    assert report.means("sparse").reciprocal_rank > 0
    assert len(report.asked) == report.questions == 2
    assert not (data_dir / "models").exists()
    assert not list(data_dir.glob("repositories/*/generations/*/dense"))


async def test_what_could_not_be_asked_is_named_and_in_no_mean(questions: Path, clones: Clones, tmp_path: Path) -> None:
    report = await _evaluate(questions, clones, tmp_path / "empty", stages=["grep"])
    assert [(one.repository, one.questions) for one in report.left_out] == [("owner/three", 1), ("owner/two", 1)]
    text = render(report)
    assert text.startswith("3 of 5 questions")
    assert "2 questions were NOT asked" in text
    assert "owner/three@" in text
    assert "there is no clone of it" in text
    assert "no commit 'ffff" in text


async def test_the_table_and_the_json_say_the_same(questions: Path, clones: Clones, tmp_path: Path) -> None:
    report = await _evaluate(questions, clones, tmp_path / "empty", stages=["grep"])
    (row,) = [line for line in render(report, by=["repository"]).splitlines() if line.strip().startswith("grep")][:1]
    means = report.means("grep")
    figures = [f"{value:.4f}" for value in (means.ndcg, means.recall, means.precision, means.reciprocal_rank)]
    assert [row.split()[0], row.split()[1], *row.split()[3:6]] == ["grep", *figures]
    stages = json.loads(json.dumps(to_json(report)))["stages"]
    assert stages["grep"]["files"]["ndcg"] == means.ndcg
    assert stages["grep"]["lines"]["recall"] == report.means("grep", lines=True).recall


async def test_a_reranker_has_a_stage_of_its_own(questions: Path, clones: Clones, data_dir: Path) -> None:
    def last(question: str, excerpt: str) -> str:
        return verdict(10) if "template" in excerpt else verdict(0)

    judge = Reranking(GeneratorReranker(Judging(last), local=True), RerankSettings(weight=1.0))
    report = await _evaluate(questions, clones, data_dir, stages=["ranked", "reranked"], only=["owner/one"], reranking=judge)
    first = {(outcome.question.id, outcome.stage): outcome.places[0].path for outcome in report.outcomes}
    assert first["sign", "ranked"] == "src/session.py"
    assert first["sign", "reranked"] == "src/template.py"

    broken = Reranking(GeneratorReranker(Judging(lambda question, excerpt: "no"), local=True), RerankSettings())
    report = await _evaluate(questions, clones, data_dir, stages=["ranked", "reranked"], only=["owner/one"], reranking=broken)
    assert not report.outcomes  # the order that stands is no figure of a reranker
    assert "The reranker failed" in report.left_out[0].reason
    elsewhere = Reranking(GeneratorReranker(Judging()), RerankSettings())
    report = await _evaluate(questions, clones, data_dir, stages=["reranked"], only=["owner/one"], reranking=elsewhere)
    assert "stays on this machine" in report.left_out[0].reason


async def test_what_cannot_be_meant_is_refused(questions: Path, clones: Clones, tmp_path: Path) -> None:
    for stages in (["grep", "magic"], []):
        with pytest.raises(EvaluationError, match=f"Choose from {', '.join(STAGES)}"):
            await _evaluate(questions, clones, tmp_path / "empty", stages=stages)
    with pytest.raises(EvaluationError, match="no reranker is configured"):
        await _evaluate(questions, clones, tmp_path / "empty", stages=["reranked"])
    with pytest.raises(EvaluationError, match="is not a directory"):
        await evaluate(select([questions]), tmp_path / "nowhere", EvalSettings(tmp_path / "empty"))
    with pytest.raises(EvaluationError, match="asks nothing about other/thing"):
        await _evaluate(questions, clones, tmp_path / "empty", stages=["grep"], only=["other/thing"])
