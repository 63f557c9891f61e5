from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rag.errors import IndexCorrupt, ModelError, RetrievalError
from rag.index.dense import default_backend
from rag.index.generation import Generation, RepositoryIndex
from rag.protocols import Embedder, Vector
from rag.retrieval.candidates import Stage
from rag.retrieval.fusion import reciprocal_rank_fusion
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import EmbeddingSpec, Filters, Retrieval
from tests.index.fixtures import SampleIndex

QUESTION = "Which locker does a new parcel get?"
STAGES: tuple[Stage, ...] = ("sparse", "dense", "fused", "ranked")
BOTH = ("fused", "ranked")


def sparse_only(generation: Generation) -> Generation:
    return replace(generation, dense=None, vectors=None, info=replace(generation.info, dense_ready=False))


def places(retrieval: Retrieval) -> list[tuple[str, int]]:
    return [(result.chunk.path, result.chunk.start_line) for result in retrieval.results]


async def test_the_answering_chunk_comes_first_with_its_link(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    retrieval = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    first = retrieval.results[0]
    assert first.chunk.path == "larder/lockers.py"
    assert first.permalink.startswith(f"https://github.com/example/larder/blob/{generation.info.commit}/larder/lockers.py#L")
    assert [result.rank for result in retrieval.results] == list(range(1, len(retrieval.results) + 1))
    assert retrieval.index == generation.info
    assert retrieval.notices == ()
    assert retrieval.explanation == ()
    assert set(retrieval.seconds) == {"sparse", "embed", "dense", "rank", "results", "retrieve"}
    assert retrieval.seconds["retrieve"] >= max(retrieval.seconds["sparse"], retrieval.seconds["rank"])


async def test_every_score_is_its_stages(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex, embedder: Embedder
) -> None:
    by_rank = Retriever(embedder, RetrievalSettings(fusion="rrf"))
    retrieval = await by_rank.retrieve(QUESTION, generation, sample_index.repository, limit=50, stage="fused")
    assert generation.dense is not None
    assert generation.vectors is not None
    query = understand(QUESTION)
    forms = (generation.sparse.scores(query.terms), generation.stems.scores(query.stems))
    means = sum(scores / scores.max() for scores in forms) / 2
    held = np.flatnonzero(generation.stems.holding(query.stems)).tolist()
    sparse = sorted(((row, float(means[row])) for row in held), key=lambda found: (-found[1], found[0]))
    dense = generation.dense.search(embedder.embed_query(QUESTION), 100)
    fused = reciprocal_rank_fusion([[row for row, _ in sparse], [row for row, _ in dense]])
    assert retrieval.candidates == {"sparse": len(sparse), "dense": len(dense)}
    rows = {chunk.id: row for row, chunk in enumerate(generation.chunks.all())}
    assert [rows[result.chunk.id] for result in retrieval.results] == [row for row, _ in fused][:50]
    similarities = generation.vectors @ embedder.embed_query(QUESTION)
    for result, (row, score) in zip(retrieval.results, fused, strict=False):
        assert result.score == result.scores["fused"] == score
        assert result.scores["similarity"] == pytest.approx(similarities[row], abs=1e-5)
        assert result.scores["distance"] == pytest.approx(1 - similarities[row], abs=1e-5)
        for name, found in (("sparse", sparse), ("dense", dense)):
            seen = dict(found)
            assert (name in result.scores) == (f"{name}_rank" in result.scores) == (row in seen)
            if name == "sparse" and row in seen:
                assert result.scores["bm25"] == pytest.approx(forms[0][row])
            if row in seen:
                assert result.scores[name] == pytest.approx(seen[row])
                assert [candidate for candidate, _ in found][int(result.scores[f"{name}_rank"]) - 1] == row


@pytest.mark.parametrize("stage", STAGES)
async def test_a_stage_ranks_by_its_own_score(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex, stage: Stage
) -> None:
    retrieval = await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage, group="code")
    scores = [result.score for result in retrieval.results]
    assert scores == sorted(scores, reverse=True)
    assert scores == [result.scores[stage] for result in retrieval.results]
    assert set(retrieval.candidates) == ({"sparse", "dense"} if stage in BOTH else {stage})


async def test_both_retrievers_bring_equally_many(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    retriever = Retriever(embedder, RetrievalSettings(candidates=3, top_k=2))
    retrieval = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    assert retrieval.candidates == {"sparse": 3, "dense": 3}
    assert len(retrieval.results) == 2
    more = await retriever.retrieve(QUESTION, generation, sample_index.repository, limit=5)
    assert more.candidates == {"sparse": 5, "dense": 5}
    assert len(more.results) == 5


async def test_filters_are_inside_both_queries(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    """With one candidate a retriever, a filter that came after the search would leave nothing."""
    retriever = Retriever(embedder, RetrievalSettings(candidates=1, top_k=1))
    for stage in STAGES:
        for filters in (Filters(language=("go",)), Filters(path=("gate/**",)), Filters(kind=("function",), language=("go", "rust"))):
            retrieval = await retriever.retrieve(
                "How long is the pause after a failure?", generation, sample_index.repository, filters=filters, stage=stage
            )
            assert [result.chunk.path for result in retrieval.results] == ["gate/retry.go"], (stage, filters)
    nothing = await retriever.retrieve(QUESTION, generation, sample_index.repository, filters=Filters(language=("cobol",)))
    assert nothing.results == ()
    assert nothing.candidates == {"sparse": 0, "dense": 0}


@pytest.mark.parametrize("stage", STAGES)
async def test_least_similarity_holds_for_what_words_alone_found(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex, stage: Stage
) -> None:
    retriever = Retriever(embedder, RetrievalSettings(candidates=4))
    whole = await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage, min_score=-1)
    assert all("similarity" in result.scores for result in whole.results)
    least = sorted(result.scores["similarity"] for result in whole.results)[1]
    some = await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage, min_score=least)
    assert places(some) == [
        place for place, result in zip(places(whole), whole.results, strict=True) if result.scores["similarity"] >= least
    ]
    assert 0 < len(some.results) < len(whole.results)
    assert (await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage, min_score=1)).results == ()


async def test_a_candidate_of_one_retriever_lacks_the_others_score(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    retriever = Retriever(embedder, RetrievalSettings(candidates=2, top_k=2))
    seen: set[tuple[bool, bool]] = set()
    for question in (QUESTION, "parcel expired courier", "Station", "how to set this up", "wait longer each time"):
        for result in (await retriever.retrieve(question, generation, sample_index.repository, stage="fused")).results:
            assert "similarity" in result.scores
            seen.add(("sparse" in result.scores, "dense" in result.scores))
    assert (True, False) in seen
    assert (False, True) in seen


async def test_the_explanation_has_a_line_for_every_candidate(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    retriever = Retriever(embedder, RetrievalSettings(candidates=4, top_k=2))
    retrieval = await retriever.retrieve(QUESTION, generation, sample_index.repository, explain=True, min_score=0.2, stage="fused")
    assert 4 <= len(retrieval.explanation) <= 8
    first = retrieval.results[0]
    line = retrieval.explanation[0]
    assert line.startswith(f"1. {first.chunk.path}:{first.chunk.start_line}-{first.chunk.end_line}: fused {first.score:.3f}; sparse #")
    assert f"({first.scores['sparse']:.3f}, BM25 {first.scores['bm25']:.2f})" in line
    assert f"cosine {first.scores['similarity']:.3f}" in line
    left_out = [line for line in retrieval.explanation if line.startswith("- ")]
    assert len(left_out) == len(retrieval.explanation) - len(retrieval.results)
    assert all("left out, beyond the limit" in line or "left out, less similar than 0.2" in line for line in left_out)


async def test_while_the_dense_part_is_built_words_answer_and_say_so(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    half = sparse_only(generation)
    retrieval = await retriever.retrieve(QUESTION, half, sample_index.repository, explain=True)
    assert retrieval.results[0].chunk.path == "larder/lockers.py"
    assert "still being built" in retrieval.notices[0]
    assert set(retrieval.candidates) == {"sparse"}
    assert set(retrieval.results[0].scores) == {"sparse", "bm25", "sparse_rank", "fused", "ranked"}
    assert retrieval.confidence is None
    assert "cosine" not in retrieval.explanation[0]
    assert "embed" not in retrieval.seconds


async def test_what_needs_the_dense_part_is_an_error_without_it(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    half = sparse_only(generation)
    with pytest.raises(RetrievalError, match=r"larder cannot be searched by meaning yet"):
        await retriever.retrieve(QUESTION, half, sample_index.repository, stage="dense")
    words: tuple[Stage, ...] = ("sparse", "fused", "ranked")
    for stage in words:
        with pytest.raises(RetrievalError, match=r"still being built.*without a least score"):
            await retriever.retrieve(QUESTION, half, sample_index.repository, stage=stage, min_score=0.3)


class Trap:
    """An embedder of another model, of the same dimension: any vector of it that is asked for would be compared with the old ones."""

    def __init__(self, spec: EmbeddingSpec) -> None:
        self.spec = spec
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        raise AssertionError("a search embeds no documents")

    def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        vector = np.zeros(self.spec.dimension, np.float32)
        vector[0] = 1
        return vector


async def test_vectors_of_another_model_are_never_compared_with_a_question(sample_index: SampleIndex) -> None:
    trap = Trap(replace(sample_index.spec, model="another-model", weights_hash="0" * 64))
    index = RepositoryIndex(sample_index.index.layout.directory, default_backend(), trap.spec)
    retriever = Retriever(trap, RetrievalSettings())
    with index.open() as generation:
        retrieval = await retriever.retrieve(QUESTION, generation, sample_index.repository)
        by_words = await retriever.retrieve(QUESTION, generation, sample_index.repository, stage="sparse")
        assert retrieval.results[0].chunk.path == "larder/lockers.py"
        assert all(set(result.scores) == {"sparse", "bm25", "sparse_rank", "fused", "ranked"} for result in retrieval.results)
        [notice] = retrieval.notices
        for words in ("another-model", sample_index.spec.model, "by words alone", "footnote index larder"):
            assert words in notice
        assert retrieval.index.dense_ready is False
        assert by_words.notices == retrieval.notices
        for stage, least in (("dense", None), ("fused", 0.3), ("ranked", 0.3), ("sparse", 0.3)):
            with pytest.raises(RetrievalError, match=r"by meaning: .*another-model \(.*is configured"):
                await retriever.retrieve(QUESTION, generation, sample_index.repository, stage=stage, min_score=least)  # type: ignore[arg-type]
    assert trap.asked == []
    index.close()


async def test_what_a_generation_must_be_told_of_comes_with_every_result(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    told = replace(generation, info=replace(generation.info, notices=("The newest index is damaged.",)))
    for stage in STAGES:
        retrieval = await retriever.retrieve(QUESTION, told, sample_index.repository, stage=stage)
        assert retrieval.notices == ("The newest index is damaged.",)


@pytest.mark.parametrize("question", ["", "  \n\t "])
async def test_an_empty_question_is_an_error(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex, question: str
) -> None:
    with pytest.raises(RetrievalError, match="The question is empty"):
        await retriever.retrieve(question, generation, sample_index.repository)


async def test_limits_and_least_scores_out_of_range_are_errors(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    for limit in (0, -3):
        with pytest.raises(RetrievalError, match=f"{limit} results"):
            await retriever.retrieve(QUESTION, generation, sample_index.repository, limit=limit)
    for least in (1.5, -2.0, float("nan")):
        with pytest.raises(RetrievalError, match=r"no cosine similarity"):
            await retriever.retrieve(QUESTION, generation, sample_index.repository, min_score=least)


@pytest.mark.parametrize("question", ["???", "🚀", "\ud800", "数据库", "x" * 50_000, "a\0b", "word " * 20_000])
async def test_odd_questions_are_answered_or_find_nothing(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex, question: str
) -> None:
    retrieval = await retriever.retrieve(question, generation, sample_index.repository)
    assert retrieval.candidates["dense"] == len(generation.chunks)


class Broken:
    """An embedder or store that fails, or hangs, as real ones might."""

    def __init__(self, embedder: Embedder, error: Exception | None = None, seconds: float = 0) -> None:
        self.embedder = embedder
        self.error = error
        self.seconds = seconds

    @property
    def spec(self) -> EmbeddingSpec:
        return self.embedder.spec

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        time.sleep(self.seconds)
        if self.error:
            raise self.error
        return self.embedder.embed_query(text)


async def test_a_failure_is_an_error_and_never_an_empty_list(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    broken = Retriever(Broken(embedder, RuntimeError("out of memory")), RetrievalSettings())
    with pytest.raises(RetrievalError, match=r"The search in larder failed \(RuntimeError\)"):
        await broken.retrieve(QUESTION, generation, sample_index.repository)
    missing = Retriever(Broken(embedder, ModelError("The model is gone.", "Bring it back.")), RetrievalSettings())
    with pytest.raises(ModelError, match=r"The model is gone"):
        await missing.retrieve(QUESTION, generation, sample_index.repository)


async def test_damage_behind_a_search_names_the_remedy(retriever: Retriever, generation: Generation, sample_index: SampleIndex) -> None:
    class Damaged:
        def scores(self, query_terms: Sequence[str]) -> np.ndarray:
            raise IndexCorrupt("A file is damaged.", "Index the repository again.")

    with pytest.raises(IndexCorrupt):
        await retriever.retrieve(QUESTION, replace(generation, sparse=Damaged()), sample_index.repository)  # type: ignore[arg-type]


async def test_a_row_that_does_not_exist_is_an_error(retriever: Retriever, generation: Generation, sample_index: SampleIndex) -> None:
    class Elsewhere:
        def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> list[tuple[int, float]]:
            return [(10_000, 0.9)]

        def close(self) -> None: ...

    with pytest.raises(RetrievalError, match=r"failed \(IndexError\)"):
        await retriever.retrieve(QUESTION, replace(generation, dense=Elsewhere()), sample_index.repository, limit=50)


async def test_a_search_that_hangs_is_given_up_and_the_loop_goes_on(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    slow = Retriever(Broken(embedder, seconds=6), RetrievalSettings(timeout=0.2))
    started = time.perf_counter()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    with pytest.raises(RetrievalError, match=r"took more than 0\.2 seconds"):
        await slow.retrieve(QUESTION, generation, sample_index.repository)
    ticking.cancel()
    assert time.perf_counter() - started < 5
    assert ticks >= 5


async def test_many_questions_at_once_get_their_own_answers(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    questions = [QUESTION, "backoff after failure", "How are people told?", "sent back to the sender"] * 5
    alone = {question: places(await retriever.retrieve(question, generation, sample_index.repository)) for question in set(questions)}
    together = await asyncio.gather(*(retriever.retrieve(question, generation, sample_index.repository) for question in questions))
    assert [places(retrieval) for retrieval in together] == [alone[question] for question in questions]
