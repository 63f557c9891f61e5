"""Documentation in its own group: on a manual of lockers with a change log, a translation and a tool's rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.jobs import BuildJob
from rag.retrieval.retriever import Retriever
from rag.types import Repository
from tests.index.fixtures import data_directory, make_repository

OTHERS = ("shelves", "labels", "receipts", "bells", "lamps", "hinges", "screens", "floors", "walls", "roofs", "signs", "benches")
FILES = {
    "README.md": "# Lockers\n\nKeeps parcels. Docker runs it: `docker run lockers`. Every courier needs a badge to open a locker.\n",
    "translations/de/README.md": "# Lockers\n\nBewahrt Pakete auf. Docker startet es: `docker run lockers`. Kuriere brauchen Ausweise.\n",
    "CHANGELOG.md": "# Changes\n\n## 1.2\n\n- A courier needs a badge to open a locker.\n- Docker runs lockers: `docker run lockers`.\n"
    "- Torn stickers on returned parcels are reprinted overnight.\n",
    "rules/lockers.rules": "-keep courier badge open locker\n-keep docker run lockers\n",
    "depot/badge.py": '"""Badges."""\n\n\ndef badge_of(courier):\n    return courier.badge\n',
    "depot/machine.py": '"""Stickers on parcels."""\n\n\ndef replace(one, other):\n    other.put(one)\n',
} | {f"docs/{thing}.md": f"# {thing.title()}\n\nThe {thing} of a station, and who cleans them.\n" for thing in OTHERS}


@pytest.fixture(scope="module")
def manual(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generation, Repository]]:
    source = make_repository(tmp_path_factory.mktemp("sources") / "manual", FILES)
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository(name="manual", source=str(source), branch="main", audience=("*",))
    build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    indexes = Indexes(data_dir, default_backend(), describe(EmbeddingSettings()))
    with indexes.for_name("manual").open() as generation:
        yield generation, repository
    indexes.close()


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I run it with docker?", "README.md"),
        ("Does a courier need a badge to open a locker?", "README.md"),
        ("What changed about the badge of a courier in 1.2?", "CHANGELOG.md"),
        ("Wie startet Docker es, und was brauchen Kuriere?", "translations/de/README.md"),
    ],
)
async def test_the_page_that_is_meant_comes_first(
    retriever: Retriever, manual: tuple[Generation, Repository], question: str, first: str
) -> None:
    generation, repository = manual
    found = await retriever.retrieve(question, generation, repository, group="prose", explain=True)
    assert found.results[0].chunk.path == first
    assert {result.chunk.path for result in found.results} <= FILES.keys() - {"rules/lockers.rules", "depot/badge.py", "depot/machine.py"}


async def test_what_is_asked_about_using_a_thing_is_answered_by_its_documentation(
    retriever: Retriever, manual: tuple[Generation, Repository]
) -> None:
    generation, repository = manual
    assert (await retriever.retrieve("How do I run it with docker?", generation, repository)).leads == "prose"
    assert (await retriever.retrieve("Where is the badge of a courier looked up?", generation, repository)).leads == "code"


async def test_a_change_log_that_nobody_asked_for_leads_nobody_away_from_the_code(
    retriever: Retriever, manual: tuple[Generation, Repository]
) -> None:
    generation, repository = manual
    said = "torn stickers on returned parcels reprinted overnight"
    found = await retriever.retrieve(said, generation, repository)
    assert found.leads == "code"
    assert "CHANGELOG.md" in {result.chunk.path for result in found.results}
    asked = await retriever.retrieve(f"changelog: {said}", generation, repository)
    assert (asked.leads, asked.results[0].chunk.path) == ("prose", "CHANGELOG.md")
