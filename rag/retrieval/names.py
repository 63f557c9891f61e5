"""How well names meet a question, those that chunks define or those of files: of all at once, for only names that hold a word of it are
looked at."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from rag.index.name_words import NameWords
from rag.retrieval.matching import Asked, Floats, Matches


def names_met(names: NameWords, asked: Asked, size: int) -> Floats:
    """(n,) F1, 0 to 1, of the best name that each of `size` chunks defines."""
    best = np.zeros(size)
    found, precision, coverage = _met(names, asked)
    if len(found):
        rows = names.rows[found]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        best[rows[starts]] = np.maximum.reduceat(2 * precision * coverage / (precision + coverage), starts)
    return best


def all_met(names: NameWords, asked: Asked) -> Matches:
    """How each of the names meets the question."""
    matches = Matches(np.zeros(len(names.lengths)), np.zeros(len(names.lengths)))
    found, matches.precision[found], matches.coverage[found] = _met(names, asked)
    return matches


def _met(names: NameWords, asked: Asked) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The names that meet a term, ascending, the share of their words that do, and the share of the question's importance in them."""
    holders = [(names.holding(number), terms) for word, number in asked.near(names.beginnings) if (terms := asked.meeting(word))]
    if not holders:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    times = np.bincount(np.concatenate([holding for holding, _ in holders]))
    of_terms: defaultdict[str, list[NDArray[np.int64]]] = defaultdict(list)
    for holding, terms in holders:
        for term in terms:
            of_terms[term].append(holding)
    covered = np.zeros(len(times))
    for term, holding_it in of_terms.items():
        covered[np.concatenate(holding_it)] += asked.importance[term]  # once, however often a name holds it
    found = times.nonzero()[0]
    return found, times[found] / names.lengths[found], covered[found] / asked.all
