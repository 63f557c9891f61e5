"""How much a term of a question says about a repository: the rarer, the more. Pure but for reading the index."""

from __future__ import annotations

import math
from collections.abc import Callable

from rag.index.sparse import SparseIndex
from rag.index.stems import stem


def importance_in(stems: SparseIndex) -> Callable[[str], float]:
    """Term -> its inverse document frequency among the chunks, counted without endings; positive (Lucene's BM25)."""
    size = len(stems)

    def importance(term: str) -> float:
        holders = len(stems.holders(stem(term)))
        return math.log(1 + (size - holders + 0.5) / (holders + 0.5))

    return importance
