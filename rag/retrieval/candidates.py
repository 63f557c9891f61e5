"""What the two retrievers brought for one question, and what is known of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag.protocols import Vector
from rag.retrieval.fusion import reciprocal_rank_fusion

Stage = Literal["sparse", "dense", "fused"]


@dataclass(frozen=True, slots=True)
class Candidates:
    """`sparse`: (row, BM25), `dense`: (row, cosine similarity), each best first; None for a retriever that was not asked.

    `similarities`: row -> cosine similarity, of every candidate whose vector is at hand. `fused`: (row, fused score), best first.
    """

    sparse: Sequence[tuple[int, float]] | None
    dense: Sequence[tuple[int, float]] | None
    similarities: dict[int, float]
    fused: Sequence[tuple[int, float]]
    rrf_k: int

    def ranked(self, stage: Stage) -> Sequence[tuple[int, float]]:
        """(row, score) in the order that a stage gives."""
        return {"sparse": self.sparse, "dense": self.dense, "fused": self.fused}[stage] or ()

    def scores(self, row: int) -> dict[str, float]:
        """Every stage's score of a row, as `SearchResult.scores` documents them."""
        scores: dict[str, float] = {}
        for name, found in (("sparse", self.sparse), ("dense", self.dense)):
            for rank, (candidate, score) in enumerate(found or (), 1):
                if candidate == row:
                    scores |= {name: score, f"{name}_rank": rank}
        if row in self.similarities:
            scores |= {"similarity": self.similarities[row], "distance": 1 - self.similarities[row]}
        for candidate, score in self.fused:
            if candidate == row:
                scores["fused"] = score
        return scores


def fuse(
    sparse: Sequence[tuple[int, float]] | None,
    dense: Sequence[tuple[int, float]] | None,
    question: Vector | None,
    vectors: Vector | None,
    rrf_k: int,
) -> Candidates:
    """Fuses what came. A chunk that only BM25 found gets its similarity from its own vector: (n, d) unit rows against the (d,) question."""
    fused = reciprocal_rank_fusion([[row for row, _ in found] for found in (sparse, dense) if found is not None], rrf_k)
    similarities = dict(dense or ())
    if question is not None and vectors is not None:
        rest = sorted(row for row, _ in fused if row not in similarities)
        if rest:
            similarities |= zip(rest, (vectors[rest] @ question).tolist(), strict=True)
    return Candidates(sparse, dense, similarities, fused, rrf_k)
