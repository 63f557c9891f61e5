"""Where the terms of a question occur, and how much each says about a repository: the rarer, the more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from rag.index.sparse import SparseIndex
from rag.index.stems import stem

Holders = Mapping[str, NDArray[np.int32]]


def holders_of(terms: Iterable[str], stems: SparseIndex) -> Holders:
    """Term -> the rows that hold it or a relative, ascending."""
    return {term: stems.holders(stem(term)) for term in dict.fromkeys(terms)}


def importance(holders: int, size: int) -> float:
    """Inverse document frequency among `size` chunks, positive (Lucene's BM25)."""
    return math.log(1 + (size - holders + 0.5) / (holders + 0.5))
