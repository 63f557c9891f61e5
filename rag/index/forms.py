"""Both forms of a generation's terms side by side, as a server holds them: the columns of the stems follow those of the whole terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.index.sparse import SparseIndex

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, slots=True)
class Forms:
    """BM25 over whole terms, and over terms without their endings (rag.index.stems), of the same rows."""

    whole: SparseIndex
    stems: SparseIndex

    def by_row(self) -> csr_matrix:
        """(n, terms + stems) the weights by chunk, float64, columns in order. A copy: 12 bytes an entry and more."""
        from scipy.sparse import hstack

        return hstack([self.whole.by_row(), self.stems.by_row()], format="csr")

    def counts(self, terms: Sequence[str], stems: Sequence[str]) -> tuple[dict[int, int], dict[int, int]]:
        """Column -> how often the query holds it, of known terms: one query a form."""
        first = self.whole.terms
        return self.whole.counts(terms), {first + column: times for column, times in self.stems.counts(stems).items()}
