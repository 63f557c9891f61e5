"""How each candidate came to its place, a line each, for `footnote search --explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.index.chunk_table import ChunkTable
from rag.retrieval.candidates import Candidates, Stage
from rag.retrieval.ranking import Ranked
from rag.source.permalink import plain_reference


@dataclass(frozen=True, slots=True)
class Explaining:
    """What the lines are made of. `similarities`: row -> cosine, of every candidate."""

    stage: Stage
    candidates: Candidates
    similarities: Mapping[int, float]
    chunks: ChunkTable
    min_score: float | None


def explanation_of(explaining: Explaining, ranked: Sequence[Ranked], kept: Sequence[Ranked]) -> tuple[str, ...]:
    """Lines in the order of `ranked`. Rows of `kept` became results and bear their rank; the others say why they did not."""
    ranks = {result.row: rank for rank, result in enumerate(kept, 1)}
    lines = []
    for result, chunk in zip(ranked, explaining.chunks.get([result.row for result in ranked]), strict=True):
        similarity = explaining.similarities.get(result.row)
        scores = explaining.candidates.scores(result.row, similarity)
        said = [_ranked(result)] if explaining.stage == "ranked" else []
        said += [_fused(scores, explaining.candidates), *_found(scores, explaining.candidates)]
        if result.row not in ranks:
            least = explaining.min_score
            dissimilar = least is not None and (similarity is None or similarity < least)
            said.append(f"left out, less similar than {least:g}" if dissimilar else "left out, beyond the limit")
        place = f"{ranks[result.row]}." if result.row in ranks else "-"
        lines.append(f"{place} {plain_reference(chunk.path, chunk.start_line, chunk.end_line)}: {'; '.join(filter(None, said))}")
    return tuple(lines)


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
