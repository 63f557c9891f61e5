"""How well the names that chunks define meet a question: of all chunks at once, for only names that hold a word of it are looked at."""

from __future__ import annotations

import numpy as np

from rag.index.name_words import NameWords
from rag.retrieval.matching import Asked, Floats


def names_met(names: NameWords, asked: Asked, size: int) -> Floats:
    """(n,) F1, 0 to 1, of the best name that each of `size` chunks defines."""
    best = np.zeros(size)
    met = [(number, terms) for word, number in asked.near(names.beginnings) if (terms := asked.meeting(word))]
    if not met:
        return best
    holders = [names.holding(number) for number, _ in met]
    found, place = np.unique(np.concatenate(holders), return_inverse=True)
    covers = np.zeros((len(found), len(asked.importance)))  # name × term
    columns = {term: column for column, term in enumerate(asked.importance)}
    ends = np.cumsum([len(holding) for holding in holders])
    for (_, terms), start, end in zip(met, [0, *ends], ends, strict=False):
        for term in terms:
            covers[place[start:end], columns[term]] = 1.0
    precision = np.bincount(place) / names.lengths[found]
    coverage = (covers * np.array(list(asked.importance.values()))).sum(axis=1) / asked.all
    rows = names.rows[found]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    best[rows[starts]] = np.maximum.reduceat(2 * precision * coverage / (precision + coverage), starts)
    return best
