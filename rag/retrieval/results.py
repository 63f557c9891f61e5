"""Ranked rows to search results, with the scores of every stage and their explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.index.generation import Generation
from rag.retrieval.candidates import Candidates, Stage
from rag.retrieval.explain import Explaining, explanation_of
from rag.retrieval.groups import places_of_both
from rag.retrieval.lists import Lists
from rag.retrieval.ranking import Ranked
from rag.source.permalink import permalink
from rag.types import Repository, SearchResult


@dataclass(frozen=True, slots=True)
class Shown:
    """`results`: what is returned, best first. `explanation`: a line a candidate, empty unless asked for. `lists`: where they come from."""

    results: tuple[SearchResult, ...]
    explanation: tuple[str, ...]
    lists: Lists


def shown(
    lists: Lists,
    candidates: Candidates,
    generation: Generation,
    repository: Repository,
    *,
    stage: Stage,
    wanted: int,
    min_score: float | None,
    explain: bool,
) -> Shown:
    """Up to `wanted` results of both groups, those alone that are similar enough. Raises: IndexCorrupt."""
    ranked = [*lists.leading, *lists.others]
    similarities = candidates.similarities([result.row for result in ranked])
    leading, others = (_similar(results, similarities, min_score) for results in (lists.leading, lists.others))
    kept = places_of_both(leading, others, wanted)
    explaining = Explaining(stage, candidates, similarities, generation.chunks, min_score)
    return Shown(
        _results(kept, candidates, similarities, stage, generation, repository),
        explanation_of(explaining, ranked, kept) if explain else (),
        lists,
    )


def _similar(results: Sequence[Ranked], similarities: Mapping[int, float], min_score: float | None) -> list[Ranked]:
    return [result for result in results if min_score is None or similarities.get(result.row, -math.inf) >= min_score]


def _results(
    kept: Sequence[Ranked],
    candidates: Candidates,
    similarities: Mapping[int, float],
    stage: Stage,
    generation: Generation,
    repository: Repository,
) -> tuple[SearchResult, ...]:
    chunks = generation.chunks.get([result.row for result in kept])
    commit = generation.info.commit
    return tuple(
        SearchResult(
            rank=rank,
            chunk=chunk,
            score=result.score,
            scores=candidates.scores(result.row, similarities.get(result.row)) | ({"ranked": result.score} if stage == "ranked" else {}),
            permalink=permalink(repository, commit, chunk.path, chunk.start_line, chunk.end_line),
        )
        for rank, (result, chunk) in enumerate(zip(kept, chunks, strict=True), 1)
    )
