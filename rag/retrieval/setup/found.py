"""Which files of an index say how the repository is set up, where a question asks for that, and which of their chunks hold what it asks
about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.index.generation import Generation
from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.index.tokens import word_terms
from rag.retrieval.importance import importance
from rag.retrieval.matching import Floats
from rag.retrieval.per_index import once_per_index
from rag.retrieval.query import Query
from rag.retrieval.setup.asked import SetupKind
from rag.retrieval.setup.ecosystems import ecosystem, ecosystems_asked
from rag.retrieval.setup.files import Roles, SetupRole, setup_roles
from rag.retrieval.setup.lines import declared
from rag.retrieval.setup.subject import subject_of_setup

_SAID_IN: Mapping[SetupKind, Mapping[SetupRole, float]] = {
    "dependencies": {"manifest": 1.0, "lock": 0.4},
    "used": {"manifest": 1.0, "lock": 0.4},
    "runtime": {"manifest": 1.0, "runtime": 0.9, "ci": 0.4},
    "package": {"manifest": 1.0},
    "ci": {"ci": 1.0},
    "release": {"releasing": 1.0, "ci": 0.8, "tasks": 0.4, "manifest": 0.2},
    "container": {"container": 1.0},
    "tasks": {"tasks": 1.0, "manifest": 0.6},
    "licence": {"licence": 1.0, "manifest": 0.5},
    "tools": {"tools": 1.0, "tasks": 0.3, "manifest": 0.4},
}
_OF_A_NAME: frozenset[SetupKind] = frozenset({"dependencies", "used", "runtime", "tools"})  # what is not named in a file is not answered
_VERSION = frozenset({"version", "versions"})
_OPTIONAL = frozenset({"dev", "development", "peer", "optional", "extras"})
_MOST = 40  # files that are scored whatever they hold
_UNHELD = 0.5  # what a file of the right kind is worth that holds nothing of what is asked about
_FOREIGN = 0.5  # and one of another ecosystem than the one that is asked for
_UNDECLARED = 0.8  # what is left of one that declares nothing of it
_CALLED_SO, _HALF = 0.8, 0.5  # least that a line must declare of what may be no package
_READ = 12  # files whose chunks are read
_MOST_ROWS = 100  # of each


@dataclass(frozen=True, slots=True)
class Setup:
    """`shares`: (f,) how well each file of the index says what is asked for, 0 to 1, 0 for nearly all of them. `files`: numbers of the
    best. `declared`: rows of the very best, how much each declares it, 0 to 1. `answered`: how sure it is that one of them answers, 0 to 1.
    """

    shares: Floats
    files: NDArray[np.int64]
    declared: Mapping[int, float]
    answered: float


def setup_of(query: Query, generation: Generation) -> Setup | None:
    """None where the question does not ask for it, or where no file of the index says it. Raises: IndexCorrupt."""
    kinds, chunks = query.asks_for_setup, generation.chunks
    if not kinds:
        return None
    ecosystems = ecosystems_asked(query.text)
    worth = _worth(kinds, ecosystems, chunks)
    subject = subject_of_setup(query.text, kinds, generation.info.repository)
    held = _held(subject, generation)
    shares = worth * (_UNHELD + (1 - _UNHELD) * held)
    best = np.argsort(-shares, kind="stable")[:_MOST]
    best = best[shares[best] > 0]
    rows = _declared(query, subject, best[:_READ].tolist(), chunks)
    if not len(best) or max(rows.values(), default=0.0) < _least_declared(query, subject):
        return None
    declared = np.zeros(len(shares))
    np.maximum.at(declared, chunks.path_numbers[list(rows)], list(rows.values()))
    sure = held if _OF_A_NAME.issuperset(kinds) else np.maximum(held, _UNHELD)
    at_home = not ecosystems or any(of in ecosystems for _, _, of in _files_with_roles(chunks))
    answered = float((worth * sure).max()) * (1.0 if at_home else _FOREIGN)
    return Setup(shares * (_UNDECLARED + (1 - _UNDECLARED) * declared), best, rows, answered)


def _declared(query: Query, subject: Sequence[str], numbers: Sequence[int], chunks: ChunkTable) -> dict[int, float]:
    """Rows of these files that declare something of these kinds. Raises: IndexCorrupt."""
    found: dict[int, float] = {}
    optional = not _OPTIONAL.isdisjoint(query.terms)
    for number in numbers:
        start, end = int(chunks.files.starts[number]), int(chunks.files.ends[number])
        rows = range(start, min(end, start + _MOST_ROWS))
        found |= {
            row: much
            for row, chunk in zip(rows, chunks.get(rows), strict=True)
            if (much := declared(query.asks_for_setup, subject, chunk.text, optional=optional))
        }
    return found


def _least_declared(query: Query, subject: Sequence[str]) -> float:
    """ "Do we use caching?" and "which version of the message is sent" are about code, unless a package is called so."""
    of_a_version = query.asks_for_setup == ("dependencies",) and not _VERSION.isdisjoint(query.terms)
    if query.asks_for_setup != ("used",) and not of_a_version:
        return 0.0
    return math.inf if not subject else _HALF if of_a_version else _CALLED_SO


def _held(subject: Sequence[str], generation: Generation) -> Floats:
    """(f,) the share of the subject's importance that each file holds; of no subject all files hold all."""
    rows, files = len(generation.chunks), generation.chunks.files
    held, whole = np.zeros(len(files)), 0.0
    for word in subject:
        holding = np.maximum(*(np.mean([_holding(term, generation.stems, rows) for term in terms], axis=0) for terms in _forms(word)))
        weight = importance(int((holding == 1).sum()), rows)
        held += weight * files.best(holding)
        whole += weight
    return held / whole if whole else np.ones(len(files))


def _forms(word: str) -> tuple[Sequence[str], Sequence[str]]:
    """As it is written, and its parts: somebody else may write it in two."""
    whole, *parts = word_terms(word)
    return [whole], parts or [whole]


def _holding(term: str, stems: SparseIndex, rows: int) -> Floats:
    """(n,) 1 for the rows that hold the term or a relative."""
    holding = np.zeros(rows)
    holding[stems.holders(stem(term))] = 1.0
    return holding


@once_per_index
def _files_with_roles(chunks: ChunkTable) -> list[tuple[int, Roles, str]]:
    """The number of each file that has a part in the setup, its roles and its ecosystem."""
    return [(number, roles, ecosystem(path)) for number, path in enumerate(chunks.paths) if (roles := setup_roles(path))]


def _worth(kinds: Sequence[SetupKind], ecosystems: frozenset[str], chunks: ChunkTable) -> Floats:
    """(f,) how likely each file says something of these kinds."""
    worth = np.zeros(len(chunks.files))
    for number, roles, of in _files_with_roles(chunks):
        foreign = ecosystems and of and of not in ecosystems
        worth[number] = max(_said(roles, _SAID_IN[kind]) for kind in kinds) * (_FOREIGN if foreign else 1.0)
    return worth


def _said(roles: Roles, wanted: Mapping[SetupRole, float]) -> float:
    return max((wanted.get(role, 0.0) * worth for role, worth in roles.items()), default=0.0)
