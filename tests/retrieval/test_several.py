from __future__ import annotations

import pytest

from rag.index.generation import Generation
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.several import those_of_here
from tests.index.fixtures import SampleIndex

HERE = "Which locker does a new parcel get?"
ELSEWHERE = "When do trains to Vienna leave tomorrow?"


@pytest.mark.parametrize("message", [f"{HERE} And by the way, {ELSEWHERE}", f"{ELSEWHERE} Secondly, {HERE}"])
def test_a_question_about_something_else_is_told(generation: Generation, message: str) -> None:
    query = understand(message)
    assert len(query.questions) == 2
    meant = those_of_here(query, generation)
    assert meant.terms == understand(HERE).terms
    assert "trains" in meant.extra


@pytest.mark.parametrize(
    "message",
    [
        HERE,
        f"{HERE} And {HERE.lower()}",
        "What is a parcel? What is a locker?",
        "Where is a locker opened? Why does it close?",  # the second needs the first
    ],
)
def test_questions_that_are_covered_alike_stay_together(generation: Generation, message: str) -> None:
    query = understand(message)
    assert those_of_here(query, generation) == query


async def test_the_answer_is_that_of_the_one(retriever: Retriever, generation: Generation, sample_index: SampleIndex) -> None:
    alone = await retriever.retrieve(HERE, generation, sample_index.repository)
    both = await retriever.retrieve(f"{HERE} And by the way, {ELSEWHERE}", generation, sample_index.repository)
    assert both.results[0].chunk.id == alone.results[0].chunk.id


def test_filters_hold_for_all(generation: Generation) -> None:
    query = understand(f"{ELSEWHERE} {HERE} lang:python path:larder/**")
    assert those_of_here(query, generation).filters == query.filters
    assert query.filters.language == ("python",)
