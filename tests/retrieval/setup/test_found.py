"""Questions about how a repository is set up, on a real index of one that has everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.jobs import BuildJob
from rag.retrieval.confidence import WARN_BELOW
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.setup.found import setup_of
from rag.types import Repository
from tests.index.fixtures import data_directory, make_repository

PYPROJECT = """[project]
name = "depot"
requires-python = ">=3.11"
license = "MIT"
dependencies = [
    "hinge>=1.4,<2",
    "latchkit~=0.9",
]

[tool.polisher]
# how the hinge is polished, and which version of the polish is required where hinges squeak
shine = 3
hinge = "bright"

[tool.mypy]
strict = true
"""
WORKFLOW = """name: {0}
on:
  push:
jobs:
  {1}:
    strategy:
      matrix:
        python-version: ['3.11', '3.12']
    steps:
      - run: {2}
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    "examples/shop/pyproject.toml": '[project]\nname = "shop"\ndependencies = ["depot", "hinge>=1"]\n',
    "web/package.json": '{\n  "name": "web",\n  "scripts": {"build": "bundle all"},\n  "dependencies": {"paintbox": "^3.1.0"}\n}\n',
    ".github/workflows/tests.yml": WORKFLOW.format("Tests", "test", "pytest"),
    ".github/workflows/publish.yml": WORKFLOW.format("Publish", "publish", "upload the wheel"),
    "Dockerfile": "FROM python:3.12-slim\nCOPY . .\nEXPOSE 8080\n",
    "compose.yaml": 'services:\n  depot:\n    build: .\n    ports:\n      - "9090:8080"\n',
    "Makefile": ".PHONY: test\ntest:\n\tpytest -q\n\nlint:\n\truff check .\n",
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n",
    "CHANGES.md": "# Changes\n\n## 1.2\n\n- The required version of hinge is 1.4.\n- Which Python version is supported was written down.\n",
    "README.md": "# Depot\n\nKeeps parcels behind doors. The licence is that of the depot. Dependencies are few.\n",
    "src/depot/versions.py": '"""Versions."""\n\n\ndef required_hinge_version(text):\n    """Required hinge version."""\n    return text\n',
    "src/depot/versions_of_python.py": "def is_supported(python):\n    return python > (3, 10)\n",
    "src/depot/dependencies.py": "def resolve_dependencies(doors):\n    return sorted(doors)\n",
} | {f"src/depot/door{number}.py": f"def open_door_{number}():\n    return {number}\n" for number in range(30)}


@pytest.fixture(scope="module")
def depot(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generation, Repository]]:
    source = make_repository(tmp_path_factory.mktemp("sources") / "depot", FILES)
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository(name="depot", source=str(source), branch="main", audience=("*",))
    build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    indexes = Indexes(data_dir, default_backend(), describe(EmbeddingSettings()))
    with indexes.for_name("depot").open() as generation:
        yield generation, repository
    indexes.close()


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("which version of hinge is required", "pyproject.toml"),
        ("which paintbox version do we use?", "web/package.json"),
        ("what are our dependencies", "pyproject.toml"),
        ("which Python versions are supported", "pyproject.toml"),
        ("what does CI run on every push", ".github/workflows/tests.yml"),
        ("which workflow publishes releases", ".github/workflows/publish.yml"),
        ("what is the base image of the Dockerfile", "Dockerfile"),
        ("which port does compose expose", "compose.yaml"),
        ("what does make lint do", "Makefile"),
        ("which npm scripts are there", "web/package.json"),
        ("which licence is this under", "LICENSE"),
        ("is mypy strict, how is mypy configured", "pyproject.toml"),
    ],
)
async def test_what_is_set_up_comes_first(retriever: Retriever, depot: tuple[Generation, Repository], question: str, path: str) -> None:
    found = await retriever.retrieve(question, *depot, explain=True)
    assert found.results[0].chunk.path == path
    assert " setup " in found.explanation[0]
    assert "× data" not in found.explanation[0]


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("how are dependencies resolved", "src/depot/dependencies.py"),
        ("where is the required hinge version read", "src/depot/versions.py"),
        ("do we use doors?", ""),
    ],
)
async def test_questions_about_code_stay_questions_about_code(
    retriever: Retriever, depot: tuple[Generation, Repository], question: str, path: str
) -> None:
    found = await retriever.retrieve(question, *depot, explain=True)
    assert not any(" setup " in line for line in found.explanation)
    assert not path or found.results[0].chunk.path == path


async def test_the_chunk_that_declares_it_comes_first(retriever: Retriever, depot: tuple[Generation, Repository]) -> None:
    for question, held in (
        ("which version of hinge is required", "hinge>=1.4"),
        ("which Python versions are supported", "requires-python"),
        ("what are our dependencies", "dependencies = ["),
    ):
        first = (await retriever.retrieve(question, *depot)).results[0].chunk
        assert held in first.text


def test_what_each_file_is_worth(depot: tuple[Generation, Repository]) -> None:
    generation, _ = depot
    paths = generation.chunks.paths
    setup = setup_of(understand("which version of hinge is required"), generation)
    assert setup is not None
    shares = dict(zip(paths, setup.shares.tolist(), strict=True))
    assert shares["pyproject.toml"] > shares["examples/shop/pyproject.toml"] > shares["web/package.json"] > 0
    assert shares["README.md"] == shares["src/depot/versions.py"] == 0
    assert paths[setup.files[0]] == "pyproject.toml"
    assert 0.9 < setup.answered <= 1
    assert all(0 < much <= 1 for much in setup.declared.values())
    assert {paths[generation.chunks.path_numbers[row]] for row in setup.declared} <= {path for path in paths if shares[path]}


def test_a_package_that_nobody_declares_is_not_answered(depot: tuple[Generation, Repository]) -> None:
    generation, _ = depot
    for question in (
        "do we use caching?",
        "which version of the message is needed",
        "which version of the schema is written",
        "which versions are supported",
        "how does a door open",
    ):
        assert setup_of(understand(question), generation) is None
    docker = setup_of(understand("which service does docker compose start for caching"), generation)
    assert docker is not None
    assert 0 < docker.answered < 1


def test_a_repository_without_such_files(generation: Generation) -> None:
    assert all(
        setup_of(understand(question), generation) is None for question in ("which npm scripts are there", "which port does compose expose")
    )


async def test_confidence_counts_what_settings_answer(retriever: Retriever, depot: tuple[Generation, Repository]) -> None:
    own = await retriever.retrieve("which version of latchkit is required", *depot)
    foreign = await retriever.retrieve("which version of teapot is required", *depot)
    assert own.confidence is not None
    assert foreign.confidence is not None
    assert own.confidence > foreign.confidence


@pytest.mark.parametrize(
    ("question", "least", "most"),
    [
        ("what runs in CI", WARN_BELOW, 1.0),  # no word of it need stand in the answer
        ("what licence is it under", WARN_BELOW, 1.0),
        ("which rubies does CI test", 0.0, WARN_BELOW),  # there is CI, and no Ruby
    ],
)
async def test_a_file_that_answers_is_enough_to_be_sure(
    retriever: Retriever, depot: tuple[Generation, Repository], question: str, least: float, most: float
) -> None:
    sure = (await retriever.retrieve(question, *depot)).confidence
    assert sure is not None
    assert least <= sure < most


async def test_filters_hold_for_settings_too(retriever: Retriever, depot: tuple[Generation, Repository]) -> None:
    found = await retriever.retrieve("which version of hinge is required path:src/**", *depot)
    assert found.results
    assert all(result.chunk.path.startswith("src/") for result in found.results)
    assert np.isfinite([result.score for result in found.results]).all()
