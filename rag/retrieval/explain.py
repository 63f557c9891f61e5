"""How each candidate came to its place, a line each, for `footnote search --explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.index.chunk_table import ChunkTable
from rag.retrieval.candidates import GROUPED, Candidates, Stage
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered
from rag.source.permalink import plain_reference


@dataclass(frozen=True, slots=True)
class Explaining:
    """What the lines are made of. `similarities`: row -> cosine, of every candidate. `twins`: row -> rows that were folded into it."""

    stage: Stage
    candidates: Candidates
    similarities: Mapping[int, float]
    chunks: ChunkTable
    min_score: float | None
    order: Reordered
    twins: Mapping[int, Sequence[int]]


def explanation_of(explaining: Explaining, rows: Sequence[int], kept: Sequence[Ranked]) -> tuple[str, ...]:
    """Lines in the order of `rows`. Those of `kept` became results and bear their rank; the others say why they did not."""
    ranks = {result.row: rank for rank, result in enumerate(kept, 1)}
    leaders = {twin: row for row, twins in explaining.twins.items() for twin in twins}
    lines = []
    for row, chunk in zip(rows, explaining.chunks.get(rows), strict=True):
        scores = explaining.candidates.scores(row, explaining.similarities.get(row))
        said = [_reranked(row, explaining.order)] if explaining.order.relevance else []
        said += [_ranked(explaining.order.before[row])] if explaining.stage in GROUPED else []
        said += [_fused(scores, explaining.candidates), *_found(scores, explaining.candidates)]
        if row not in ranks:
            said.append(_left_out(row, explaining, leaders))
        place = f"{ranks[row]}." if row in ranks else "-"
        lines.append(f"{place} {plain_reference(chunk.path, chunk.start_line, chunk.end_line)}: {'; '.join(filter(None, said))}")
    return tuple(lines)


def _left_out(row: int, explaining: Explaining, leaders: Mapping[int, int]) -> str:
    similarity, least = explaining.similarities.get(row), explaining.min_score
    if row in explaining.order.relevance and not explaining.order.relevance[row].relevant:
        return "left out, below the reranker's threshold"
    if least is not None and (similarity is None or similarity < least):
        return f"left out, less similar than {least:g}"
    if row in leaders:
        [leader] = explaining.chunks.get([leaders[row]])
        return f"folded into {plain_reference(leader.path, leader.start_line, leader.end_line)}"
    return "left out, beyond the limit"


def _reranked(row: int, order: Reordered) -> str:
    if row not in order.relevance:
        return "not shown to the reranker"
    relevance = order.relevance[row]
    return f"rerank {relevance.score:.3f}" + (f" ({relevance.reason})" if relevance.reason else "")


def _ranked(result: Ranked) -> str:
    added = " + ".join(f"{name} {share:.2f}" for name, share in result.shares.items() if not name.startswith("×"))
    factors = "".join(f" × {name.removeprefix('× ')} {share:.2f}" for name, share in result.shares.items() if name.startswith("×"))
    return f"ranked {result.score:.3f} = {f'({added}){factors}' if factors else added}"


def _fused(scores: Mapping[str, float], candidates: Candidates) -> str:
    if "fused" not in scores:
        return "fused from the rest of its file"
    if candidates.fusing.rrf_k:
        parts = [f"1/({candidates.fusing.rrf_k}+{scores[f'{name}_rank']:g})" for name in ("sparse", "dense") if f"{name}_rank" in scores]
        return f"fused {scores['fused']:.4f} = {' + '.join(parts)}"
    return f"fused {scores['fused']:.3f}"


def _found(scores: Mapping[str, float], candidates: Candidates) -> list[str]:
    said = []
    if candidates.sparse is not None:
        found = f"sparse #{scores['sparse_rank']:g} ({scores['sparse']:.3f}, BM25 {scores['bm25']:.2f})" if "sparse" in scores else ""
        said.append(found or "not found by words")
    if candidates.dense is not None:
        said.append(f"dense #{scores['dense_rank']:g}" if "dense" in scores else "not found by meaning")
    if "similarity" in scores:
        said.append(f"cosine {scores['similarity']:.3f}")
    return said
