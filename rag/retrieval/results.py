"""Ranked rows to search results: near-duplicates folded, the limit kept, the scores of every stage and their explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag.index.generation import Generation
from rag.retrieval.candidates import GROUPED, Candidates, Stage
from rag.retrieval.diversity import AHEAD, folded, marginal
from rag.retrieval.explain import Explaining, explanation_of
from rag.retrieval.groups import places_of_both
from rag.retrieval.query import Query
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered
from rag.source.permalink import permalink
from rag.types import Chunk, Repository, SearchResult, Twin


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which results. `limit`: how many; `min_score`: least cosine similarity, None for any; `fold`, `mmr`: as in RetrievalSettings."""

    query: Query
    stage: Stage
    limit: int
    min_score: float | None
    explain: bool
    fold: bool
    mmr: float


@dataclass(frozen=True, slots=True)
class Shown:
    """`results`: what is returned, best first. `explanation`: a line a candidate, empty unless asked for."""

    results: tuple[SearchResult, ...]
    explanation: tuple[str, ...]


def shown(order: Reordered, candidates: Candidates, generation: Generation, repository: Repository, wanted: Wanted) -> Shown:
    """Up to `limit` results of both groups, those alone that are similar enough. Raises: IndexCorrupt."""
    leading, others = order.lists.leading, order.lists.others
    rows = list(dict.fromkeys([*(result.row for result in (*leading, *others)), *order.before]))
    similarities = candidates.similarities(rows) if wanted.explain or wanted.min_score is not None else {}
    twins: dict[int, tuple[int, ...]] = {}
    leading, others = (_similar(results, similarities, wanted.min_score) for results in (leading, others))
    if wanted.stage in GROUPED:
        leading, others = (_diverse(results, generation, wanted, twins) for results in (leading, others))
    kept = places_of_both(leading, others, wanted.limit)
    similarities = similarities or candidates.similarities([result.row for result in kept])
    results = _results(kept, order, twins, candidates, similarities, wanted.stage, generation, repository)
    if not wanted.explain:
        return Shown(results, ())
    explaining = Explaining(wanted.stage, candidates, similarities, generation.chunks, wanted.min_score, order, twins)
    return Shown(results, explanation_of(explaining, rows, kept))


def _similar(results: Sequence[Ranked], similarities: Mapping[int, float], min_score: float | None) -> list[Ranked]:
    return [result for result in results if min_score is None or similarities.get(result.row, -math.inf) >= min_score]


def _diverse(results: list[Ranked], generation: Generation, wanted: Wanted, twins: dict[int, tuple[int, ...]]) -> list[Ranked]:
    """One group's results with twins folded into one of them, which takes the best place and score of all; `twins` is told which."""
    ahead, rest = results[: AHEAD * wanted.limit], results[AHEAD * wanted.limit :]
    vectors, chunks = generation.vectors, generation.chunks
    if wanted.fold and len(ahead) > 1:
        rows = [result.row for result in ahead]
        paths = [chunks.paths[number] for number in chunks.path_numbers[rows].tolist()]
        folds = folded(
            paths,
            None if vectors is None else vectors[rows],
            lambda places: chunks.get([rows[place] for place in places]),
            wanted.query.text,
        )
        twins |= {rows[fold.leader]: tuple(rows[place] for place in fold.twins) for fold in folds if fold.twins}
        ahead = [_in_place_of(ahead[fold.leader], ahead[fold.first]) for fold in folds]
    if wanted.mmr < 1 and vectors is not None and len(ahead) > 1:
        best = max(ahead[0].score, 1e-9)
        places = marginal([result.score / best for result in ahead], vectors[[result.row for result in ahead]], wanted.mmr, len(ahead))
        ahead = [ahead[place] for place in places]
    return ahead + rest


def _in_place_of(leader: Ranked, first: Ranked) -> Ranked:
    return leader if leader is first else replace(leader, score=first.score)


def _results(
    kept: Sequence[Ranked],
    order: Reordered,
    twins: Mapping[int, tuple[int, ...]],
    candidates: Candidates,
    similarities: Mapping[int, float],
    stage: Stage,
    generation: Generation,
    repository: Repository,
) -> tuple[SearchResult, ...]:
    commit = generation.info.commit

    def link(chunk: Chunk) -> str:
        return permalink(repository, commit, chunk.path, chunk.start_line, chunk.end_line)

    def scores(result: Ranked) -> dict[str, float]:
        found = candidates.scores(result.row, similarities.get(result.row))
        if stage in GROUPED:
            before = order.before[result.row]
            found["ranked"] = before.score
            found |= {"setup": before.shares["setup"]} if "setup" in before.shares else {}
        if order.relevance:
            found |= {"reranked": result.score}
            found |= {"rerank": order.relevance[result.row].score} if result.row in order.relevance else {}
        return found

    return tuple(
        SearchResult(
            rank=rank,
            chunk=chunk,
            score=result.score,
            scores=scores(result),
            permalink=link(chunk),
            twins=tuple(
                Twin(twin.path, twin.start_line, twin.end_line, link(twin)) for twin in generation.chunks.get(twins.get(result.row, ()))
            ),
        )
        for rank, (result, chunk) in enumerate(zip(kept, generation.chunks.get([result.row for result in kept]), strict=True), 1)
    )
