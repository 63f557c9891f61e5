"""How each candidate came to its place, a line each, for `footnote search --explain`."""

from __future__ import annotations

from collections.abc import Sequence

from rag.index.chunk_table import ChunkTable
from rag.retrieval.candidates import Candidates
from rag.source.permalink import plain_reference


def explanation_of(
    candidates: Candidates,
    ranked: Sequence[tuple[int, float]],
    kept: Sequence[tuple[int, float]],
    chunks: ChunkTable,
    min_score: float | None,
) -> tuple[str, ...]:
    """Lines in the order of `ranked`. Rows of `kept` became results and bear their rank; the others say why they did not."""
    ranks = {row: rank for rank, (row, _) in enumerate(kept, 1)}
    lines = []
    for (row, _), chunk in zip(ranked, chunks.get([row for row, _ in ranked]), strict=True):
        scores = candidates.scores(row)
        said = [_fused(scores, candidates.rrf_k), *_found(scores, candidates)]
        if row not in ranks:
            dissimilar = min_score is not None and scores.get("similarity", -1.0) < min_score
            said.append(f"left out, less similar than {min_score:g}" if dissimilar else "left out, beyond the limit")
        place = f"{ranks[row]}." if row in ranks else "-"
        lines.append(f"{place} {plain_reference(chunk.path, chunk.start_line, chunk.end_line)}: {'; '.join(said)}")
    return tuple(lines)


def _fused(scores: dict[str, float], rrf_k: int) -> str:
    parts = [f"1/({rrf_k}+{scores[f'{name}_rank']:g})" for name in ("sparse", "dense") if f"{name}_rank" in scores]
    return f"fused {scores['fused']:.4f} = {' + '.join(parts)}"


def _found(scores: dict[str, float], candidates: Candidates) -> list[str]:
    said = []
    if candidates.sparse is not None:
        said.append(f"sparse #{scores['sparse_rank']:g} (BM25 {scores['sparse']:.2f})" if "sparse" in scores else "not found by words")
    if candidates.dense is not None:
        said.append(f"dense #{scores['dense_rank']:g}" if "dense" in scores else "not found by meaning")
    if "similarity" in scores:
        said.append(f"cosine {scores['similarity']:.3f}")
    return said
