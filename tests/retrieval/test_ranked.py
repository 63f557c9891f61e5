"""The stage "ranked" on a real index."""

from __future__ import annotations

import pytest

from rag.index.generation import Generation
from rag.protocols import Embedder
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Filters
from tests.index.fixtures import SampleIndex

QUESTION = "Which locker does a new parcel get?"


async def test_code_and_prose_are_two_groups_the_likelier_first(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    about_code = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    assert about_code.leads == about_code.results[0].group == "code"
    about_prose = await retriever.retrieve("Documentation on installing with pip", generation, sample_index.repository)
    assert about_prose.leads == about_prose.results[0].group == "prose"
    assert about_prose.results[0].chunk.path == "README.md"
    for retrieval in (about_code, about_prose):
        groups = [result.group for result in retrieval.results]
        assert set(groups) == {"code", "prose"}
        assert groups == sorted(groups, reverse=retrieval.leads == "prose")


@pytest.mark.parametrize("group", ["code", "prose"])
async def test_one_group_alone(retriever: Retriever, generation: Generation, sample_index: SampleIndex, group: str) -> None:
    given = await retriever.retrieve(QUESTION, generation, sample_index.repository, group=group)  # type: ignore[arg-type]
    written = await retriever.retrieve(f"{QUESTION} kind:{group}", generation, sample_index.repository)
    for retrieval in (given, written):
        assert {result.group for result in retrieval.results} == {group}
        scores = [result.score for result in retrieval.results]
        assert scores == sorted(scores, reverse=True) == [result.scores["ranked"] for result in retrieval.results]
    assert [result.chunk for result in given.results] == [result.chunk for result in written.results]


async def test_a_bare_symbol_leads_to_its_definition(retriever: Retriever, generation: Generation, sample_index: SampleIndex) -> None:
    for symbol, path, defined in (("Notifier", "web/notify.js", "Notifier"), ("RetryWithBackoff", "gate/retry.go", "RetryWithBackoff")):
        retrieval = await retriever.retrieve(symbol, generation, sample_index.repository, explain=True)
        first = retrieval.results[0]
        assert first.chunk.path == path
        assert defined in first.chunk.defines
        assert " + definition " in retrieval.explanation[0]


async def test_filters_in_the_question_are_inside_both_queries(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    retriever = Retriever(embedder, RetrievalSettings(candidates=1, top_k=1))
    for question in ("How long is the pause after a failure? lang:go", "How long is the pause? path:gate/**"):
        [result] = (await retriever.retrieve(question, generation, sample_index.repository)).results
        assert result.chunk.path == "gate/retry.go"
    given = await retriever.retrieve("pause lang:go", generation, sample_index.repository, filters=Filters(language=("python",)))
    assert {result.chunk.language for result in given.results} == {"python"}
    no_tests = await retriever.retrieve("How long is the pause in the tests?", generation, sample_index.repository)
    assert no_tests.results


async def test_every_chunk_comes_once_and_a_file_that_is_named_gains_by_it(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    question = "What is wrong in larder/expiry.py with a locker?"
    retrieval = await retriever.retrieve(question, generation, sample_index.repository, limit=100, explain=True)
    ids = [result.chunk.id for result in retrieval.results]
    assert len(ids) == len(set(ids)) == len(generation.chunks)
    assert {line.split(":")[0].split(" ")[1] for line in retrieval.explanation if "named 0.50" in line} == {"larder/expiry.py"}


async def test_the_explanation_names_every_share_and_its_sum(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    retrieval = await retriever.retrieve("How are lockers assigned?", generation, sample_index.repository, explain=True, limit=2)
    unexplained = await retriever.retrieve("How are lockers assigned?", generation, sample_index.repository, limit=2)
    assert unexplained.results == retrieval.results
    line = retrieval.explanation[0]
    first = retrieval.results[0]
    assert line.startswith(f"1. {first.chunk.path}:{first.chunk.start_line}-{first.chunk.end_line}: ranked {first.score:.3f} = ")
    for said in ("text ", "file name ", "coherence ", "size ", "fused ", "sparse #", "cosine "):
        assert said in line
    assert sum(line.startswith("- ") for line in retrieval.explanation) == len(retrieval.explanation) - 2


async def test_confidence_tells_own_questions_from_foreign_ones(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    own, foreign = [
        (await retriever.retrieve(question, generation, sample_index.repository)).confidence
        for question in (QUESTION, "How does the borrow checker of `rustc_borrowck` infer lifetimes?")
    ]
    assert own is not None
    assert foreign is not None
    assert 0 <= foreign < own <= 1


async def test_fusion_by_rank_ranks_too(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    by_rank = Retriever(embedder, RetrievalSettings(fusion="rrf"))
    retrieval = await by_rank.retrieve(QUESTION, generation, sample_index.repository, explain=True)
    assert retrieval.results[0].chunk.path == "larder/lockers.py"
    assert "= 1/(60+" in retrieval.explanation[0]
