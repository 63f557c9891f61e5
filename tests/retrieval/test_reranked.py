"""The stage "reranked", and twins, on a real index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import RerankerFailed, RetrievalError
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.jobs import BuildJob
from rag.protocols import Embedder
from rag.retrieval.reranking.judge import GeneratorReranker
from rag.retrieval.reranking.stage import FAILED, SLOW, Reranking, RerankSettings
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Chunk, Filters, Relevance, Repository, Retrieval
from tests.index.fixtures import SAMPLE_FILES, SampleIndex, data_directory, make_repository
from tests.retrieval.reranking.servers import Judging, verdict

QUESTION = "Which locker does a new parcel get?"
Marks = Callable[[Chunk], Relevance | Exception]


class Marking:
    """A reranker on this machine, or elsewhere, that gives what `marks` says; `pause`: seconds before."""

    name = "fake/marking"

    def __init__(self, marks: Marks = lambda chunk: Relevance(0.0), *, pause: float = 0.0, local: bool = True) -> None:
        self._marks = marks
        self._pause = pause
        self.local = local
        self.seen: list[Chunk] = []
        self.questions: list[str] = []

    async def prepare(self) -> None: ...

    async def score(self, question: str, chunks: Sequence[Chunk]) -> list[Relevance]:
        self.seen += chunks
        self.questions.append(question)
        await asyncio.sleep(self._pause)
        found = []
        for chunk in chunks:
            said = self._marks(chunk)
            if isinstance(said, Exception):
                raise said
            found.append(said)
        return found

    async def aclose(self) -> None: ...


def last_first(chunk: Chunk) -> Relevance:
    return Relevance(float(chunk.start_line), f"line {chunk.start_line}")


def retriever_of(embedder: Embedder, marking: Marking, *, candidates: int = 20) -> Retriever:
    return Retriever(embedder, RetrievalSettings(), Reranking(marking, RerankSettings(candidates=candidates, weight=1.0)))


def places(retrieval: Retrieval) -> list[tuple[str, int]]:
    return [(result.chunk.path, result.chunk.start_line) for result in retrieval.results]


async def test_users_get_the_rerankers_order(
    embedder: Embedder, retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    marking = Marking(last_first)
    found = await retriever_of(embedder, marking).retrieve(f"{QUESTION} kind:code", generation, sample_index.repository, explain=True)
    before = await retriever.retrieve(f"{QUESTION} kind:code", generation, sample_index.repository)
    assert {chunk.id for chunk in marking.seen} >= {result.chunk.id for result in found.results}
    assert marking.questions == [QUESTION]
    assert sorted(places(found)) == sorted(places(before))
    assert [start for _, start in places(found)] == sorted((start for _, start in places(before)), reverse=True)
    for result in found.results:
        assert result.scores["rerank"] == result.chunk.start_line
        assert result.scores["reranked"] == result.score
    assert {result.chunk.id: result.scores["ranked"] for result in found.results} == {
        result.chunk.id: result.score for result in before.results
    }
    assert [result.score for result in found.results] == sorted((result.score for result in found.results), reverse=True)
    assert found.seconds["rerank"] > 0
    assert found.notices == ()
    first = found.results[0].chunk
    assert found.explanation[0].startswith(f"1. {first.path}:{first.start_line}")
    assert f"rerank {first.start_line}.000 (line {first.start_line}); ranked " in found.explanation[0]


async def test_earlier_stages_are_as_they_were(
    embedder: Embedder, retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    marking = Marking(last_first)
    reranking = retriever_of(embedder, marking)
    for stage in ("sparse", "dense", "fused", "ranked"):
        found = await reranking.retrieve(QUESTION, generation, sample_index.repository, stage=stage)
        assert found.results == (await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage)).results
    assert marking.seen == []


@pytest.mark.parametrize(
    "marks",
    [
        lambda chunk: RerankerFailed("It is away.", "Wait."),
        lambda chunk: RuntimeError("out of memory"),
        lambda chunk: Relevance(float("nan")),
        lambda chunk: Relevance(0.0, readable=False),
    ],
)
async def test_where_it_fails_the_order_stands_and_says_so(
    marks: Marks, embedder: Embedder, retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    found = await retriever_of(embedder, Marking(marks)).retrieve(QUESTION, generation, sample_index.repository)
    before = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    assert found.notices == (FAILED,)
    assert found.results == before.results
    assert "rerank" in found.seconds


async def test_where_it_is_slow_the_order_stands_within_the_time(
    embedder: Embedder, retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    before = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    own_time = Retriever(embedder, RetrievalSettings(timeout=120), Reranking(Marking(last_first, pause=3600), RerankSettings(timeout=0.1)))
    found = await own_time.retrieve(QUESTION, generation, sample_index.repository)
    assert (found.notices, found.results) == ((SLOW,), before.results)
    # A timeout of its own that is longer than the search's is no way to an error.
    whole = Retriever(embedder, RetrievalSettings(timeout=10), Reranking(Marking(last_first, pause=3600), RerankSettings(timeout=3600)))
    found = await whole.retrieve(QUESTION, generation, sample_index.repository)
    assert (found.notices, found.results) == ((SLOW,), before.results)


async def test_some_replies_that_cannot_be_read_count_as_0_and_are_told(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    def script(question: str, excerpt: str) -> str:
        return verdict(9) if "lockers.py" in excerpt else "I cannot."

    judge = Reranking(GeneratorReranker(Judging(script), local=True), RerankSettings(weight=1.0))
    found = await Retriever(embedder, RetrievalSettings(), judge).retrieve(QUESTION, generation, sample_index.repository, group="code")
    [notice] = found.notices
    assert notice.endswith("verdicts of the reranker could not be read and count as 0.")
    marks = [result.scores["rerank"] for result in found.results]
    assert marks == sorted(marks, reverse=True)
    assert set(marks) == {9.0, 0.0}


async def test_what_is_below_the_threshold_is_no_result(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    only = Marking(lambda chunk: Relevance(1.0, "no", relevant=chunk.path == "larder/lockers.py"))
    found = await retriever_of(embedder, only).retrieve(QUESTION, generation, sample_index.repository, explain=True)
    assert {result.chunk.path for result in found.results} == {"larder/lockers.py"}
    assert any("below the reranker's threshold" in line for line in found.explanation)
    none = Marking(lambda chunk: Relevance(1.0, relevant=False))
    assert (await retriever_of(embedder, none).retrieve(QUESTION, generation, sample_index.repository)).results == ()


async def test_code_that_must_not_leave_is_not_shown_to_a_reranker_elsewhere(
    embedder: Embedder, retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    marking = Marking(last_first, local=False)
    asking = retriever_of(embedder, marking)
    assert sample_index.repository.generator == "extractive"
    found = await asking.retrieve(QUESTION, generation, sample_index.repository)
    assert found.results == (await retriever.retrieve(QUESTION, generation, sample_index.repository)).results
    with pytest.raises(RetrievalError, match="stays on this machine"):
        await asking.retrieve(QUESTION, generation, sample_index.repository, stage="reranked")
    assert marking.seen == []
    sent = replace(sample_index.repository, generator="groq")
    assert "rerank" in (await asking.retrieve(QUESTION, generation, sent)).results[0].scores


async def test_without_a_reranker_the_stage_is_an_error(retriever: Retriever, generation: Generation, sample_index: SampleIndex) -> None:
    with pytest.raises(RetrievalError, match=r"No reranker is configured.*\[rerank\]"):
        await retriever.retrieve(QUESTION, generation, sample_index.repository, stage="reranked")


async def test_only_so_many_are_scored_and_they_may_rise_from_beyond_the_limit(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    marking = Marking(last_first)
    found = await retriever_of(embedder, marking, candidates=6).retrieve(QUESTION, generation, sample_index.repository, limit=1)
    assert len(marking.seen) == 6
    assert len(found.results) == 1
    leading = [chunk for chunk in marking.seen if (chunk.language == "markdown") == (found.leads == "prose")]
    assert found.results[0].chunk.start_line == max(chunk.start_line for chunk in leading)


async def test_nothing_found_asks_nothing(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    marking = Marking()
    found = await retriever_of(embedder, marking).retrieve(
        QUESTION, generation, sample_index.repository, filters=Filters(language=("cobol",))
    )
    assert (found.results, marking.seen, found.notices) == ((), [], ())


COPIED = SAMPLE_FILES["larder/lockers.py"]


@pytest.fixture(scope="module")
def copies(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generation, Repository]]:
    """The sample with a fork of one of its files, an older version of another, and nothing else changed."""
    expiry = SAMPLE_FILES["larder/expiry.py"]
    files = {
        **SAMPLE_FILES,
        "fork/lockers.py": COPIED,
        "larder/v1/expiry.py": expiry.replace("MAX_AGE", "LONGEST"),
    }
    source = make_repository(tmp_path_factory.mktemp("sources") / "copies", files)
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository("copies", str(source), "main", web="https://github.com/example/copies")
    build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    indexes = Indexes(data_dir, default_backend(), describe(EmbeddingSettings()))
    with indexes.for_name("copies").open() as generation:
        yield generation, repository
    indexes.close()


async def test_a_copy_is_named_and_its_place_goes_to_another(copies: tuple[Generation, Repository], retriever: Retriever) -> None:
    generation, repository = copies
    found = await retriever.retrieve(QUESTION, generation, repository, explain=True, limit=5, group="code")
    assert len(found.results) == 5
    folded = [result for result in found.results if result.twins]
    assert folded
    for result in folded:
        for twin in result.twins:
            assert twin.path != result.chunk.path
            assert twin.permalink.endswith(f"{twin.path}#L{twin.start_line}-L{twin.end_line}")
    shown = {(result.chunk.path, result.chunk.start_line) for result in found.results}
    assert not shown & {(twin.path, twin.start_line) for result in folded for twin in result.twins}
    assert {"larder/lockers.py", "fork/lockers.py"} == {folded[0].chunk.path, folded[0].twins[0].path}
    assert any(line.startswith("- ") and "folded into" in line for line in found.explanation)
    assert [result.score for result in found.results] == sorted((result.score for result in found.results), reverse=True)


async def test_the_file_outside_of_its_versions_leads(copies: tuple[Generation, Repository], retriever: Retriever) -> None:
    generation, repository = copies
    found = await retriever.retrieve("which parcels are older than LONGEST", generation, repository, group="code")
    [result] = [result for result in found.results if result.twins and "expired" in result.chunk.text]
    assert result.chunk.path == "larder/expiry.py"
    assert [twin.path for twin in result.twins] == ["larder/v1/expiry.py"]
    asked = await retriever.retrieve("which parcels are older than LONGEST in v1", generation, repository, group="code")
    assert any(result.chunk.path == "larder/v1/expiry.py" for result in asked.results)


async def test_folding_can_be_turned_off_and_earlier_stages_never_fold(
    copies: tuple[Generation, Repository], retriever: Retriever, embedder: Embedder
) -> None:
    generation, repository = copies
    off = Retriever(embedder, RetrievalSettings(fold=False))
    unfolded = await off.retrieve(QUESTION, generation, repository, limit=50)
    folded = await retriever.retrieve(QUESTION, generation, repository, limit=50)
    assert not any(result.twins for result in unfolded.results)
    everything = set(places(folded)) | {(twin.path, twin.start_line) for result in folded.results for twin in result.twins}
    assert everything == set(places(unfolded))
    for stage in ("sparse", "dense", "fused"):
        found = await retriever.retrieve(QUESTION, generation, repository, limit=50, stage=stage)
        assert not any(result.twins for result in found.results)


async def test_marginal_relevance_changes_the_order_and_nothing_else(copies: tuple[Generation, Repository], embedder: Embedder) -> None:
    generation, repository = copies
    plain = await Retriever(embedder, RetrievalSettings()).retrieve(QUESTION, generation, repository, limit=50)
    diverse = await Retriever(embedder, RetrievalSettings(mmr=0.3)).retrieve(QUESTION, generation, repository, limit=50)
    assert sorted(places(plain)) == sorted(places(diverse))
    assert places(plain) != places(diverse)
    assert places(plain)[0] == places(diverse)[0]
