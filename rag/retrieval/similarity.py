"""How similar chunks are to a question, on a scale of the question's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.cosines import cosines_at, products, sample_of
from rag.protocols import Vector


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosine similarities on a scale where `nothing`, what an unrelated chunk has, is 0 and the `best` is 1. `question`: (d,); `vectors`:
    (n, d) unit rows; `known`: (n,) their cosines, of the sample at least, NaN for those that are computed when they are asked for, None
    where all are.
    """

    question: Vector
    vectors: Vector
    known: Vector | None
    nothing: float
    best: float

    @classmethod
    def of_question(cls, question: Vector, vectors: Vector, known: Vector | None, best: float) -> Similarity:
        """`best`: the highest cosine that a search found."""
        vectors = np.asarray(vectors)  # as a map, every slice of it is one
        sample = sample_of(vectors)
        cosines = products(vectors[sample], question) if known is None else known[sample]
        return cls(question, vectors, known, float(np.median(cosines)) if len(cosines) else 0.0, best)

    def cosines(self, rows: NDArray[np.int64]) -> Vector:
        """(m,) of these rows."""
        if self.known is None:
            return cosines_at(rows, self.question, self.vectors)
        found: Vector = self.known[rows]
        unknown = np.isnan(found)
        if unknown.any():
            found[unknown] = self.known[rows[unknown]] = cosines_at(rows[unknown], self.question, self.vectors)
        return found

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) of these rows, on the scale; below 0 for what is less than unrelated."""
        width = self.best - self.nothing
        return (self.cosines(rows).astype(np.float64) - self.nothing) / width if len(rows) and width > 1e-6 else np.zeros(len(rows))

    def cosine(self, scaled: float) -> float:
        """Back from that scale."""
        return scaled * (self.best - self.nothing) + self.nothing
