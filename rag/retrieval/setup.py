"""Which files of an index say how the repository is set up, where a question asks for that, and which of their chunks hold what it asks
about."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.importance import Holders
from rag.retrieval.matching import Asked, Floats
from rag.retrieval.query import Query
from rag.retrieval.setup_asked import GENERIC, SAID_IN, SetupKind
from rag.retrieval.setup_files import Roles, setup_roles

_MOST = 40  # files that are scored whatever they hold
_UNHELD = 0.4  # what a file of the right kind is worth that holds nothing of what is asked about
_known: WeakKeyDictionary[ChunkTable, list[tuple[int, Roles]]] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Setup:
    """`shares`: (f,) how well each file of the index says what is asked for, 0 to 1, 0 for nearly all of them. `held`: (n,) of what is asked
    about, how much each chunk holds, 0 to 1; 0 outside of those files, and everywhere where the question names nothing. `files`: numbers
    of the best."""

    shares: Floats
    held: Floats
    files: NDArray[np.int64]


def setup_of(query: Query, asked: Asked, holders: Holders, chunks: ChunkTable) -> Setup | None:
    """None where the question does not ask for it, or where no file of the index says it."""
    if not query.asks_for_setup:
        return None
    worth = _worth(query.asks_for_setup, chunks)
    if not worth.any():
        return None
    files = chunks.files
    subject = {term: importance for term, importance in asked.importance.items() if term not in GENERIC}
    held, held_by_file = np.zeros(len(chunks)), np.zeros(len(files))
    for term, importance in subject.items():
        rows = holders[term]
        held[rows] += importance
        held_by_file[np.unique(files.numbers[rows])] += importance
    whole = sum(subject.values())
    if whole:
        held *= (worth > 0)[files.numbers] / whole
        held_by_file /= whole
    shares = worth * (_UNHELD + (1 - _UNHELD) * held_by_file) if whole else worth
    best = np.argsort(-shares, kind="stable")[:_MOST]
    return Setup(shares, held, best[shares[best] > 0])


def _worth(kinds: Sequence[SetupKind], chunks: ChunkTable) -> Floats:
    """(f,) how likely each file says something of these kinds."""
    with _lock:
        known = _known.get(chunks)
        if known is None:
            known = _known[chunks] = [(number, roles) for number, path in enumerate(chunks.paths) if (roles := setup_roles(path))]
    worth = np.zeros(len(chunks.files))
    for number, roles in known:
        worth[number] = max(_said(roles, SAID_IN[kind]) for kind in kinds)
    return worth


def _said(roles: Roles, wanted: Mapping[str, float]) -> float:
    return max((wanted.get(role, 0.0) * worth for role, worth in roles.items()), default=0.0)
