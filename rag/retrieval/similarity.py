"""How similar chunks are to a question, on a scale of the question's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.best import Rows
from rag.index.cosines import Cosines, sample_of
from rag.protocols import Vector

_NARROW = 1e-6  # a scale on which nothing differs


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosine similarities on a scale where `nothing`, what an unrelated chunk has, is 0 and the `best` is 1."""

    cosines: Cosines
    nothing: float
    best: float

    @classmethod
    def of_question(cls, cosines: Cosines, best: float) -> Similarity:
        """`best`: the highest cosine that a search found."""
        sample = cosines.about(sample_of(len(cosines)))
        return cls(cosines, float(np.median(sample)) if len(sample) else 0.0, best)

    def of(self, rows: Rows) -> NDArray[np.float64]:
        """(m,) of these rows, on the scale; below 0 for what is less than unrelated."""
        return self._scaled(self.cosines.at(rows))

    def of_files(self, rows: Rows, starts: Rows, owner: Rows, most: int) -> tuple[NDArray[np.float64], Rows]:
        """(m,) the same of all rows of k files, exact for the best `most` of each, and where these are; see `Cosines.best_of_each`."""
        cosines, near = self.cosines.best_of_each(rows, starts, owner, most)
        return self._scaled(cosines), near

    def cosine(self, scaled: float) -> float:
        """Back from that scale."""
        return scaled * (self.best - self.nothing) + self.nothing

    def scaled(self, cosine: float) -> float:
        """One on the scale."""
        width = self.best - self.nothing
        return (cosine - self.nothing) / width if width > _NARROW else 0.0

    def _scaled(self, cosines: Vector) -> NDArray[np.float64]:
        width = self.best - self.nothing
        return (cosines.astype(np.float64) - self.nothing) / width if len(cosines) and width > _NARROW else np.zeros(len(cosines))
