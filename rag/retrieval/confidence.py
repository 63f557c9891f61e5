"""How likely it is that a question is about this repository at all: one calibrated number. It knows foreign questions, not wrong ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rag.index.best import Rows
from rag.index.file_rows import Files
from rag.index.sparse import SparseIndex
from rag.retrieval.importance import Holders
from rag.retrieval.matching import Asked, Floats

WARN_BELOW = 0.5
"""An answer says below this that the question may be foreign: 2 to 6 of 100 own questions, and 9 of 10 foreign ones."""
REFUSE_BELOW = 0.1
"""Below this nothing is answered: 1 of 100 own questions, and 8 of 10 foreign ones."""
_MIDDLE, _STEEPNESS = 0.88, 17.0  # where own and foreign questions are equally many, and how fast that changes
_STEEPEST = 700.0  # whose exponential is still a number
BEST = 10  # chunks that are looked into
_NAMES_NONE = 0.7
_OF_TALK = 0.25  # of its importance, what a common word counts that nothing here holds
_FEW = 100  # chunks below which chance plays no part
_OF_SAID = 0.3
_SCALES = {"static": (0.75, 0.15)}  # of a back end: what its cosines are multiplied by, and what is added


def comparable(cosine: float, backend: str) -> float:
    """The best cosine of a back end on the scale of MiniLM's, by which the constants here and in rag.retrieval.groups were chosen."""
    factor, added = _SCALES.get(backend, (1.0, 0.0))
    return factor * cosine + added


def coverage(asked: Asked, holders: Holders, rows: Rows) -> Floats:
    """(k,) the share of the question's importance that each of these chunks holds, 0 to 1."""
    chosen = rows.astype(np.int32)  # as the holders are, which would be copied otherwise
    held = np.zeros(len(chosen))
    for term, importance in asked.importance.items():
        held += importance * _among(chosen, holders[term])
    return held / asked.all


def coverage_by_file(asked: Asked, holders: Holders, files: Files, knows: Callable[[str], bool] | None = None) -> float:
    """The most of the question's importance that one file holds, 0 to 1. `knows`: the words of the language, None where nothing tells. One
    that no chunk holds says more of how people talk than of what they ask about, and counts a quarter; a name, or a rare word, in full.
    """
    held, whole = np.zeros(len(files)), 0.0
    for term, importance in asked.importance.items():
        held[files.numbers[holders[term]]] += importance  # once, however many of its chunks hold it
        whole += importance * (_OF_TALK if knows is not None and not len(holders[term]) and knows(term) else 1.0)
    return float(held.max(initial=0.0)) / (whole or 1.0)


def known_share(identifiers: Iterable[str], sparse: SparseIndex) -> float:
    """The share of the question's identifiers that occur in the repository, 0.7 where it names none."""
    known = [len(sparse.holders(name)) > 0 for name in identifiers]
    return sum(known) / len(known) if known else _NAMES_NONE


def raw_confidence(similarity: float, covered: float, known: float, fit: float, chunks: int, said: float = 0.0) -> float:
    """`similarity`: the best cosine of all `chunks`: the more there are, the better is the best of them by chance. `covered`: see
    `coverage_by_file`; `known`: see `known_share`; `fit`: what the text of the file that ranks first, its name, and
    what it defines were worth to it; `said`: how much of the question stands somewhere word by word, as a message of a program does.
    """
    return similarity + 0.3 * covered + 0.3 * known + 0.1 * fit + _OF_SAID * said - 0.1 * math.log10(max(chunks, _FEW) / _FEW)


def calibrated(raw: float) -> float:
    """0 to 1: the share of own questions among as many own as foreign ones that score so."""
    return 1 / (1 + math.exp(min(_STEEPNESS * (_MIDDLE - raw), _STEEPEST)))


def _among(rows: NDArray[np.int32], holders: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows are among the holders, which are ascending."""
    if not len(holders):
        return np.zeros(len(rows), dtype=np.bool_)
    return np.asarray(holders.take(holders.searchsorted(rows), mode="clip") == rows)
