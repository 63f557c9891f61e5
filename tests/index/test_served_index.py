"""A repository's index on a Qdrant server: built, switched, asked, while the server is there, away, refusing, or empty."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import BuildFailed, StoreUnavailable
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.dense_server import ServerBackend
from rag.index.generation import Generation, RepositoryIndex, repository_directory
from rag.index.jobs import BuildJob, BuildReport
from rag.index.restoring import RestoringStore
from rag.index.server import Server
from rag.index.server_settings import ServerSettings
from rag.index.tokens import terms
from rag.protocols import DenseBackend, Embedder, HybridStore
from rag.retrieval.retriever import Retriever
from rag.retrieval.search import SERVER_AWAY
from rag.retrieval.settings import RetrievalSettings
from rag.types import Filters, Repository
from tests.index.fake_qdrant import FakeQdrant, Fault, Request, fake_qdrant
from tests.index.fixtures import commit_files, data_directory, make_repository
from tests.index.servers import both

QUESTION = "Which locker does a new parcel get?"


@pytest.fixture
def fake() -> Iterator[FakeQdrant]:
    with fake_qdrant() as made:
        yield made


class Room:
    def __init__(self, fake: FakeQdrant, source: Path, data_dir: Path) -> None:
        self.source = source
        self.fake = fake
        self.job = BuildJob(repository=Repository("larder", str(source)), data_dir=data_dir, threads=1)
        self.now = 0.0
        self.server = Server(ServerSettings(fake.url, timeout=5.0), clock=lambda: self.now, sleep=lambda seconds: None)
        self.backend = ServerBackend(self.server, data_dir)

    def index(self, backend: DenseBackend | None = None) -> RepositoryIndex:
        directory = repository_directory(self.job.data_dir, "larder")
        return RepositoryIndex(directory, backend or self.backend, describe(EmbeddingSettings()))

    def build(self, backend: DenseBackend | None = None) -> BuildReport:
        return build(self.job, lambda event: None, backend=backend or self.backend)

    @property
    def alias(self) -> str:
        return f"{self.backend.prefix[:-1]}.larder"


@pytest.fixture
def room(fake: FakeQdrant, tmp_path: Path, models_directory: Path) -> Room:
    return Room(fake, make_repository(tmp_path / "source"), data_directory(tmp_path / "data", models_directory))


def everywhere(fault: Fault) -> Callable[[Request], Fault | None]:
    return lambda request: fault


def hybrid(generation: Generation) -> HybridStore:
    assert isinstance(generation.dense, HybridStore)
    return generation.dense


def ask(generation: Generation, embedder: Embedder) -> list[int]:
    """The rows that are found by meaning, which need be those of the exact comparison."""
    assert generation.vectors is not None
    vector = embedder.embed_query(QUESTION)
    sparse, dense = both(hybrid(generation), vector, generation.sparse.counts(terms(QUESTION)), 5)
    scores = generation.vectors @ vector
    rows = [row for row, _ in dense]
    assert rows == sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:5]
    assert [row for row, _ in sparse] == [row for row, _ in generation.sparse.search(terms(QUESTION), 5)]
    return rows


def eventually(attempt: Callable[[], Any]) -> Any:
    end = time.monotonic() + 60
    while True:
        try:
            return attempt()
        except StoreUnavailable:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def test_builds_switch_the_alias_and_old_collections_go_after_their_readers(room: Room, embedder: Embedder) -> None:
    room.build()
    index = room.index()
    with index.open() as first:
        assert first.info.dense_ready
        assert first.manifest.dense is not None
        assert first.manifest.dense.backend == "qdrant-server"
        rows = ask(first, embedder)
        (oldest,) = room.fake.collections()
        assert room.fake.aliases() == {room.alias: oldest}
        for number in (1, 2, 3):
            commit_files(room.source, {"note.md": f"# Note\n\nNumber {number}.\n"})
            report = room.build()
            assert report.embedded == 1
        # Two generations are kept; the first has a reader.
        assert len(room.fake.collections()) == 3
        assert oldest in room.fake.collections()
        assert room.fake.aliases()[room.alias] != oldest
        assert ask(first, embedder) == rows
    with index.open() as latest:
        ask(latest, embedder)
    commit_files(room.source, {"note.md": "# Note\n\nThe last.\n"})
    room.build()
    assert len(room.fake.collections()) == 2
    assert oldest not in room.fake.collections()
    index.close()
    index.remove()
    assert room.fake.collections() == []
    assert room.fake.aliases() == {}


@pytest.mark.parametrize("fault", [Fault(), Fault(401, b"no"), Fault(200, b"{")], ids=["500", "401", "no JSON"])
def test_a_build_that_the_server_fails_keeps_what_was_indexed(room: Room, embedder: Embedder, fault: Fault) -> None:
    room.build()
    commit_files(room.source, {"note.md": "# Note\n"})
    room.fake.fault = lambda request: fault if request.path.endswith("/points") else None
    with pytest.raises(BuildFailed, match="Qdrant server at") as caught:
        room.build()
    assert "\n" not in str(caught.value)
    assert "keeps answering" in caught.value.remedy
    room.fake.fault = lambda request: None
    with room.index().open() as generation:
        assert "note.md" not in generation.chunks.paths
        ask(generation, embedder)
    assert len(room.fake.collections()) == 1


def test_a_first_build_without_its_server_can_be_asked_by_words(room: Room) -> None:
    room.fake.fault = everywhere(Fault(503))
    with pytest.raises(BuildFailed, match="503"):
        room.build()
    with room.index().open() as generation:
        assert generation.dense is None
        assert generation.sparse.search(terms(QUESTION), 5)
    room.fake.fault = lambda request: None
    room.now += 60
    assert not room.build().unchanged
    with room.index().open() as generation:
        assert generation.dense is not None


def test_switching_the_server_on_and_off_embeds_nothing(room: Room, embedder: Embedder) -> None:
    room.build(EdgeBackend())
    index = room.index()
    with index.open() as generation:
        rows = eventually(lambda: ask(generation, embedder))
    assert list(room.fake.aliases()) == [room.alias]
    index.close()
    report = room.build()
    assert report.unchanged
    with room.index(EdgeBackend()).open() as generation:
        assert generation.dense is not None
        assert [row for row, _ in generation.dense.search(embedder.embed_query(QUESTION), 5)] == rows


def test_what_was_wiped_is_made_anew_while_questions_are_answered_by_words(room: Room, embedder: Embedder) -> None:
    room.build()
    with room.index().open() as generation:
        rows = ask(generation, embedder)
        (collection,) = room.fake.collections()
        room.fake.drop(collection)
        with pytest.raises(StoreUnavailable):
            ask(generation, embedder)
        assert eventually(lambda: ask(generation, embedder)) == rows
        (anew,) = room.fake.collections()
        assert anew != collection
        assert room.fake.aliases() == {room.alias: anew}
    assert room.build().unchanged
    assert room.fake.collections() == [anew]


async def test_answers_say_that_the_server_is_away(room: Room, embedder: Embedder) -> None:
    room.build()
    retriever = Retriever(embedder, RetrievalSettings())
    with room.index().open() as generation:
        room.fake.requests.clear()
        both = await retriever.retrieve(QUESTION, generation, room.job.repository)
        assert [request.path.rpartition("/")[2] for request in room.fake.requests] == ["batch"]
        assert both.notices == ()
        assert set(both.candidates) == {"sparse", "dense"}
        with room.index(EdgeBackend()).open() as embedded:
            same = await retriever.retrieve(QUESTION, embedded, room.job.repository)
            assert [one.chunk.id for one in same.results] == [one.chunk.id for one in both.results]
            for filters in (Filters(path=("larder",)), Filters(language=("go",)), Filters(path=("*.py", "web/**"), kind=("method",))):
                here = await retriever.retrieve(QUESTION, embedded, room.job.repository, filters=filters)
                there = await retriever.retrieve(QUESTION, generation, room.job.repository, filters=filters)
                assert [one.chunk.id for one in here.results] == [one.chunk.id for one in there.results]
                assert here.candidates == there.candidates
        room.fake.fault = everywhere(Fault(500))
        words = await retriever.retrieve(QUESTION, generation, room.job.repository)
        assert words.notices == (SERVER_AWAY,)
        assert words.results
        assert set(words.candidates) == {"sparse"}
        likely = await retriever.retrieve(QUESTION, generation, room.job.repository, min_score=0.3)
        assert all(one.scores["similarity"] >= 0.3 for one in likely.results)
        with pytest.raises(StoreUnavailable, match="500"):
            await retriever.retrieve(QUESTION, generation, room.job.repository, stage="dense")
        assert (await retriever.retrieve(QUESTION, generation, room.job.repository, stage="sparse")).notices == ()


def test_an_index_opens_without_its_server_and_finds_it_later(room: Room, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    room.build()
    room.fake.fault = everywhere(Fault(500))
    monkeypatch.setattr("rag.index.restoring.PAUSE", 0.0)
    with room.index().open() as generation:
        assert generation.info.dense_ready
        assert isinstance(generation.dense, RestoringStore)
        with pytest.raises(StoreUnavailable):
            ask(generation, embedder)
        room.fake.fault = lambda request: None
        room.now += 60
        assert eventually(lambda: ask(generation, embedder))
    assert len(room.fake.collections()) == 1


def test_leftovers_of_killed_builds_are_swept(room: Room) -> None:
    room.build()
    (kept,) = room.fake.collections()
    room.fake.client.create_collection(f"{room.backend.prefix}20260101T000000-000000000000", vectors_config={})
    room.fake.client.create_collection("footnote-ffffffffffff-20260101T000000-000000000000", vectors_config={})
    assert room.build().unchanged
    assert room.fake.collections() == sorted([kept, "footnote-ffffffffffff-20260101T000000-000000000000"])
