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
from rag.index.generation import Generation
from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.index.tokens import split_words, word_terms, words
from rag.retrieval.importance import importance
from rag.retrieval.matching import Floats
from rag.retrieval.query import STOP_WORDS, Query
from rag.retrieval.setup_asked import GENERIC, SAID_IN, SetupKind, ecosystems_asked, telling, without_ecosystems
from rag.retrieval.setup_files import Roles, SetupRole, ecosystem, setup_roles

_MOST = 40  # files that are scored whatever they hold
_UNHELD = 0.4  # what a file of the right kind is worth that holds nothing of what is asked about
_FOREIGN = 0.5  # and one of another ecosystem than the one that is asked for
_TOLD_BY = 2  # telling words that are enough
_known: WeakKeyDictionary[ChunkTable, list[tuple[int, Roles, str]]] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Setup:
    """`shares`: (f,) how well each file of the index says what is asked for, 0 to 1, 0 for nearly all of them. `held`: (n,) of what is asked
    about, how much each chunk holds, 0 to 1, `told`: (n,) how many of the words that stand where such answers stand; both 0 outside of
    those files. `files`: numbers of the best. `answered`: how sure it is that one of them answers, 0 to 1."""

    shares: Floats
    held: Floats
    told: Floats
    files: NDArray[np.int64]
    answered: float


def setup_of(query: Query, generation: Generation) -> Setup | None:
    """None where the question does not ask for it, or where no file of the index says it."""
    kinds, chunks = query.asks_for_setup, generation.chunks
    if not kinds:
        return None
    worth = _worth(kinds, ecosystems_asked(query.text), chunks)
    if not worth.any():
        return None
    files, saying = chunks.files, (worth > 0)[chunks.files.numbers]
    held, by_file = _held(_subject(query, generation), generation)
    told = sum(_holding(word, generation.stems, len(chunks)) for word in telling(kinds)) / _TOLD_BY
    shares = worth * (_UNHELD + (1 - _UNHELD) * by_file)
    best = np.argsort(-shares, kind="stable")[:_MOST]
    return Setup(shares, held * saying, np.minimum(told, 1.0) * saying, best[shares[best] > 0], float((worth * by_file).max()))


def _subject(query: Query, generation: Generation) -> list[str]:
    """The words of the question that its answer must hold. Of a licence nothing: its text names neither whom nor what it is for."""
    if query.asks_for_setup == ("licence",):
        return []
    beside = GENERIC | STOP_WORDS | set(split_words(generation.info.repository))
    return [
        word for word in dict.fromkeys(words(without_ecosystems(query.text))) if len(word) > 1 and beside.isdisjoint({word.lower(), *word_terms(word)[1:]})
    ]


def _held(subject: Sequence[str], generation: Generation) -> tuple[Floats, Floats]:
    """(n,) and (f,) the share of the subject's importance that each chunk and each file holds; of no subject all files hold all."""
    rows, files = len(generation.chunks), generation.chunks.files
    held, by_file, whole = np.zeros(rows), np.zeros(len(files)), 0.0
    for word in subject:
        holding = np.maximum(*(np.mean([_holding(term, generation.stems, rows) for term in terms], axis=0) for terms in _forms(word)))
        weight = importance(int((holding == 1).sum()), rows)
        held += weight * holding
        by_file += weight * files.best(holding)
        whole += weight
    return (held / whole, by_file / whole) if whole else (held, np.ones(len(files)))


def _forms(word: str) -> tuple[Sequence[str], Sequence[str]]:
    """As it is written, and its parts: somebody else may write it in two."""
    whole, *parts = word_terms(word)
    return [whole], parts or [whole]


def _holding(term: str, stems: SparseIndex, rows: int) -> Floats:
    """(n,) 1 for the rows that hold the term or a relative."""
    holding = np.zeros(rows)
    holding[stems.holders(stem(term))] = 1.0
    return holding


def _worth(kinds: Sequence[SetupKind], ecosystems: frozenset[str], chunks: ChunkTable) -> Floats:
    """(f,) how likely each file says something of these kinds."""
    with _lock:
        known = _known.get(chunks)
        if known is None:
            known = [(number, roles, ecosystem(path)) for number, path in enumerate(chunks.paths) if (roles := setup_roles(path))]
            _known[chunks] = known
    worth = np.zeros(len(chunks.files))
    for number, roles, of in known:
        foreign = ecosystems and of and of not in ecosystems
        worth[number] = max(_said(roles, SAID_IN[kind]) for kind in kinds) * (_FOREIGN if foreign else 1.0)
    return worth


def _said(roles: Roles, wanted: Mapping[SetupRole, float]) -> float:
    return max((wanted.get(role, 0.0) * worth for role, worth in roles.items()), default=0.0)
