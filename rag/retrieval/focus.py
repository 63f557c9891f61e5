"""Which words of a long question are searched for: its title's, twice, and the few below it that are rare in this repository."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.retrieval.importance import importance
from rag.retrieval.query import Query, searched_terms

CHOSEN = 20  # terms below the title


def focused(query: Query, stems: SparseIndex, size: int) -> Query:
    """The query with the terms that are worth it: the highest √tf · idf in a repository of `size` chunks. Short ones stay as they are."""
    if query.long is None:
        return query
    below = Counter(searched_terms(query.long.body))
    weights = {term: sqrt(times) * importance(held, size) for term, times in below.items() if (held := len(stems.holders(stem(term))))}
    best = sorted(weights, key=lambda term: (-weights[term], term))[:CHOSEN]
    chosen = (*query.terms, *query.terms, *best)
    return replace(query, terms=chosen, stems=tuple(map(stem, chosen)))
