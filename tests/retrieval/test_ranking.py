"""Which files, then which of their chunks: on an index of lockers in many files, one of which is a test that answers best."""

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
from rag.retrieval.signals import CODE
from rag.types import Repository
from tests.index.fixtures import data_directory, make_repository

THINGS = ("doors", "hinges", "keys", "codes", "couriers", "parcels", "stations", "shelves", "labels", "receipts", "bells", "lamps")
FILES = {
    f"lockers/{thing}.py": f'"""The {thing} of the lockers."""\n\n\ndef locker_{thing}(locker):\n    return locker.{thing}\n'
    for thing in THINGS
} | {
    "tests/test_everything.py": '"""Everything at once."""\n\n\ndef test_a_late_courier_pays_a_fine():\n'
    "    fine = late_courier(minutes=30).fine\n    assert fine == 12, 'a late courier pays a fine for every minute'\n"
}
QUESTION = "Which fine does a late courier pay for lockers?"


@pytest.fixture(scope="module")
def lockers(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generation, Repository]]:
    source = make_repository(tmp_path_factory.mktemp("sources") / "lockers", FILES)
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository(name="lockers", source=str(source), branch="main", audience=("*",))
    build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    indexes = Indexes(data_dir, default_backend(), describe(EmbeddingSettings()))
    with indexes.for_name("lockers").open() as generation:
        yield generation, repository
    indexes.close()


async def test_what_answers_best_by_its_text_alone_is_seen_whatever_is_said_of_its_file(
    retriever: Retriever, lockers: tuple[Generation, Repository]
) -> None:
    generation, repository = lockers
    found = await retriever.retrieve(QUESTION, generation, repository, group="code", explain=True)
    by_text = (await retriever.retrieve(QUESTION, generation, repository, stage="fused")).results[0].chunk
    assert by_text.path == "tests/test_everything.py"
    ranks = {result.chunk.id: result.rank for result in found.results}
    assert ranks[by_text.id] <= CODE.lifted_to + CODE.lifted
    scores = [result.score for result in found.results]
    assert scores == sorted(scores, reverse=True)


async def test_a_shorter_list_is_the_beginning_of_a_longer_one(retriever: Retriever, lockers: tuple[Generation, Repository]) -> None:
    generation, repository = lockers
    for question in (QUESTION, "locker_keys", "Where are hinges and lamps?", "in the tests: what does a courier pay?"):
        longest = await retriever.retrieve(question, generation, repository, group="code", limit=100)
        explained = await retriever.retrieve(question, generation, repository, group="code", limit=100, explain=True)
        assert longest.results == explained.results
        for limit in (1, 2, 5, 6, 7, 8, 10, 12):
            shorter = await retriever.retrieve(question, generation, repository, group="code", limit=limit)
            assert shorter.results == longest.results[:limit]
