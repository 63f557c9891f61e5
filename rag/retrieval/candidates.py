"""What the two retrievers brought for one question, and what is known of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rag.index.cosines import Cosines, products
from rag.protocols import Vector
from rag.retrieval.fusion import linear_fusion, reciprocal_rank_fusion
from rag.retrieval.search import Meaning, Words
from rag.retrieval.similarity import Similarity

Stage = Literal["sparse", "dense", "fused", "ranked", "reranked"]
GROUPED: frozenset[Stage] = frozenset({"ranked", "reranked"})
"""The stages that rank files and tell code from prose; users get the last one that is configured."""


@dataclass(frozen=True, slots=True)
class Fusing:
    """`rrf_k`: reciprocal rank fusion with this k, 0 for linear fusion; `weight`: of the words in linear fusion, 0 to 1."""

    rrf_k: int
    weight: float


class Candidates:
    """`sparse`: what words brought, None where they were not asked; `meaning`: what vectors brought, likewise, and `dense` the rows of it.

    `similarity`: of every row to the question, None where nothing is known of it. `alone`: the question's own vector where a language
    model said something beside it; `own_best`: the best cosine similarity to that, else None.
    """

    def __init__(
        self,
        sparse: Words | None,
        meaning: Meaning | None,
        vectors: Vector | None,
        fusing: Fusing,
        alone: Vector | None = None,
    ) -> None:
        self.sparse = sparse
        self.dense = dense = meaning.found if meaning else None
        self.fusing = fusing
        self.similarity: Similarity | None = None
        if meaning is not None and vectors is not None:
            best = dense[0][1] if dense else 0.0
            if not dense and sparse and sparse.found:
                best = float(products(vectors[[row for row, _ in sparse.found]], meaning.question).max())
            self.similarity = Similarity.of_question(meaning.cosines or Cosines(meaning.question, vectors), best)
        self.own_best: float | None = None
        if alone is not None and vectors is not None and dense:
            self.own_best = float(products(vectors[[row for row, _ in dense]], alone).max())
        self._ranks = [{row: rank for rank, (row, _) in enumerate(found, 1)} for found in (sparse.found if sparse else (), dense or ())]

    def ranked(self, stage: Stage) -> Sequence[tuple[int, float]]:
        """(row, score) in the order that one of the first three stages gives."""
        if stage == "fused":
            return self.fused
        return {"sparse": self.sparse.found if self.sparse else (), "dense": self.dense or ()}[stage]

    def similarities(self, rows: Sequence[int]) -> dict[int, float]:
        """Row -> cosine similarity, as far as they are known."""
        wanted = set(rows)
        known = {row: score for row, score in self.dense or () if row in wanted}
        rest = [row for row in rows if row not in known]
        if self.similarity is not None and rest:
            known |= zip(rest, self.similarity.cosines.at(np.array(rest)).tolist(), strict=True)
        return known

    def scores(self, row: int, similarity: float | None) -> dict[str, float]:
        """Every stage's score of a row but the ranking's, as `SearchResult.scores` documents them."""
        scores: dict[str, float] = {}
        by_words, by_meaning = (ranks.get(row) for ranks in self._ranks)
        if self.sparse and by_words:
            scores |= {"sparse": float(self.sparse.scores[row]), "bm25": float(self.sparse.bm25[row]), "sparse_rank": by_words}
        if by_meaning and similarity is not None:
            scores |= {"dense": similarity, "dense_rank": by_meaning}
        if similarity is not None:
            scores |= {"similarity": similarity, "distance": 1 - similarity}
        if by_words or by_meaning:
            scores["fused"] = self._fused_score(row, [rank for rank in (by_words, by_meaning) if rank], similarity)
        return scores

    def _fused_score(self, row: int, ranks: Sequence[int], similarity: float | None) -> float:
        """That of `fused`, of one row."""
        if self.fusing.rrf_k:
            return sum(1 / (self.fusing.rrf_k + rank) for rank in ranks)
        sparse = float(self.sparse.scores[row]) if self.sparse else 0.0
        if self.dense is None or self.similarity is None or similarity is None:
            return sparse
        weight = self.fusing.weight if self.sparse else 0.0
        return weight * sparse + (1 - weight) * max(self.similarity.scaled(similarity), 0.0)

    @cached_property
    def fused(self) -> list[tuple[int, float]]:
        """(row, fused score), best first."""
        return self._fuse()

    def _fuse(self) -> list[tuple[int, float]]:
        lists = [[row for row, _ in found] for found in (self.sparse.found if self.sparse else None, self.dense) if found is not None]
        if self.fusing.rrf_k:
            return reciprocal_rank_fusion(lists, self.fusing.rrf_k)
        rows = np.unique(np.concatenate([np.asarray(rows, dtype=np.int64) for rows in lists]))
        sparse = self.sparse.scores[rows] if self.sparse else np.zeros(len(rows))
        if self.dense is None or self.similarity is None:
            return linear_fusion(rows, sparse, np.zeros(len(rows)), 1.0)
        return linear_fusion(rows, sparse, np.maximum(self.similarity.of(rows), 0.0), self.fusing.weight if self.sparse else 0.0)
