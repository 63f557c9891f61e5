"""Filters by author and date, inside both retrievers, on an index whose history is written by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from rag.index.generation import Generation
from rag.index.history import HistoryFile, write_history
from rag.index.history_filter import MASKED, NO_HISTORY
from rag.protocols import Embedder
from rag.retrieval.candidates import Stage
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.source.history.tally import History
from rag.types import Filters
from tests.index.fixtures import SampleIndex

QUESTION = "Which locker does a new parcel get?"
STAGES: tuple[Stage, ...] = ("sparse", "dense", "fused", "ranked")
MARCH, JUNE = 1_709_251_200, 1_717_200_000
BENS = {"web/notify.js", "README.md"}


def write(directory: Path, generation: Generation) -> None:
    """Ben changed BENS last, in June 2024, and Ana the rest, in March."""
    paths = tuple(generation.chunks.paths)
    bens = np.array([path in BENS for path in paths])
    count = len(paths)
    history = History(
        commit=generation.info.commit,
        reference=JUNE,
        cut=False,
        named=True,
        mailmap="",
        paths=paths,
        authors=("Ana Berg", "Ben Ode"),
        changed=np.where(bens, JUNE, MARCH),
        changed_by=bens.astype(np.int32),
        starts=np.arange(count + 1),
        who=bens.astype(np.int32),
        commits=np.ones(count, dtype=np.int32),
        weights=np.ones(count),
        last=np.where(bens, JUNE, MARCH),
    )
    write_history(directory, history)


@pytest.fixture
def dated(generation: Generation, tmp_path: Path) -> Generation:
    write(tmp_path, generation)
    return replace(generation, history=HistoryFile(tmp_path))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    "filters",
    [
        Filters(author=("ben",)),
        Filters(since=date(2024, 4, 1)),
        Filters(since=date(2024, 4, 1), path=("**",)),
        Filters(author=("ode",), before=date(2025, 1, 1)),
    ],
    ids=str,
)
async def test_they_are_inside_both_queries(
    embedder: Embedder, dated: Generation, sample_index: SampleIndex, filters: Filters, stage: Stage
) -> None:
    """With one candidate a retriever, a filter that came after the search would leave nothing: the best files are Ana's."""
    narrow = Retriever(embedder, RetrievalSettings(candidates=1, top_k=1))
    found = await narrow.retrieve(QUESTION, dated, sample_index.repository, filters=filters, stage=stage)
    assert {result.chunk.path for result in found.results} <= BENS
    assert found.results
    wide = await Retriever(embedder, RetrievalSettings()).retrieve(
        QUESTION, dated, sample_index.repository, filters=filters, stage=stage, limit=50
    )
    assert {result.chunk.path for result in wide.results} == BENS
    assert wide.notices == ()


async def test_they_may_stand_in_the_question(retriever: Retriever, dated: Generation, sample_index: SampleIndex) -> None:
    for words in ("author:ben", 'author:"Ben O"', "since:2024-04", "changed since April 2024"):
        found = await retriever.retrieve(f"a parcel waits in a locker {words}", dated, sample_index.repository)
        assert {result.chunk.path for result in found.results} == BENS, words


@pytest.mark.parametrize("stage", STAGES)
async def test_nobody_of_that_name_is_an_empty_list_that_says_so(
    retriever: Retriever, dated: Generation, sample_index: SampleIndex, stage: Stage
) -> None:
    found = await retriever.retrieve("Station author:Anna", dated, sample_index.repository, stage=stage)
    assert found.results == ()
    assert found.notices == ("The history knows no author Anna. Near: Ana Berg.",)


async def test_without_a_history_nothing_is_found_and_why_is_said(
    retriever: Retriever, generation: Generation, tmp_path: Path, sample_index: SampleIndex
) -> None:
    bare = replace(generation, history=HistoryFile(tmp_path))
    found = await retriever.retrieve(QUESTION, bare, sample_index.repository, filters=Filters(author=("ana",)))
    assert (found.results, found.notices) == ((), (NO_HISTORY,))


async def test_masked_names_cannot_be_searched_for_and_are_not_told(
    retriever: Retriever, generation: Generation, tmp_path: Path, sample_index: SampleIndex
) -> None:
    write(tmp_path, generation)
    masked = replace(generation, history=HistoryFile(tmp_path, named=False))
    found = await retriever.retrieve(f"{QUESTION} author:Anna", masked, sample_index.repository)
    assert (found.results, found.notices) == ((), (MASKED,))
    dated = await retriever.retrieve(f"{QUESTION} since:2024-04", masked, sample_index.repository)
    assert {result.chunk.path for result in dated.results} == BENS


async def test_a_date_in_words_that_leaves_nothing_does_not_hold(
    retriever: Retriever, dated: Generation, sample_index: SampleIndex
) -> None:
    found = await retriever.retrieve("which locker code was changed since July 2024", dated, sample_index.repository)
    assert found.results
    assert found.notices == ("No file that fits was changed since 2024-07-01: this was found without regard to when.",)
    written = await retriever.retrieve("which locker code since:2024-07", dated, sample_index.repository)
    assert (written.results, written.notices) == ((), ())
    named = await retriever.retrieve("which locker code author:ben was changed since July 2024", dated, sample_index.repository)
    assert {result.chunk.path for result in named.results} == BENS
