"""What a question finds, before it is ranked: both retrievers side by side, and beside them what its words say by themselves.

While it is embedded, which keeps one processor busy and the interpreter free, it is read, and its words are looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rag.index.generation import Generation
from rag.index.spread import Beside
from rag.protocols import HybridStore
from rag.retrieval.candidates import GROUPED, Stage
from rag.retrieval.literals import literals_found
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.said import said_by
from rag.retrieval.search import Allowed, Meaning, Search, Words, clocked, near
from rag.retrieval.subject import Subject, subject_of
from rag.types import Filters


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that may not have been read yet. `texts`: whose mean vector is searched for, None where only reading it against the index
    tells; `read`: the search for it. `given`: filters
    that were given beside it, `filters`: with those that it holds; `limit`: candidates of each retriever. `seconds`: as in `Search`."""

    texts: tuple[str, ...] | None
    read: Callable[[], Search]
    given: Filters
    filters: Filters
    limit: int
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """`search`: the question as it was searched for; `allowed`: the rows that might be found. `words`, `meaning`: None where they were not
    asked; `subject`: None where files are not ranked."""

    search: Search
    allowed: Allowed
    words: Words | None
    meaning: Meaning | None
    subject: Subject | None


def find(asked: Asked, generation: Generation, query_vectors: QueryVectors, stage: Stage, *, by_meaning: bool) -> Found:
    """In one request where a server holds both. `by_meaning`: whether its vector is needed. Raises: RetrievalError, IndexCorrupt,
    ModelError."""
    if isinstance(generation.dense, HybridStore) and stage not in ("sparse", "dense"):
        search, allowed = asked.read().narrowed(asked.given)
        beside = Beside(lambda: _subject(search, stage))
        words, meaning = search.both(query_vectors, allowed)
        return Found(search, allowed, words, meaning, _verbatim(beside.result(), words, generation))
    if not by_meaning or generation.dense is None:
        return _by_words(asked, stage)
    narrowed = asked.read().narrowed(asked.given) if asked.texts is None else None
    others = Beside(lambda: _by_words(asked, stage, narrowed))
    with clocked(asked.seconds, "embed"):
        vector = query_vectors.of(*(asked.texts or (narrowed[0].query.texts if narrowed else ())))
    if stage == "sparse":
        meaning = Meaning(vector)
    else:
        allowed, filters = (others.result().allowed, others.result().search.filters) if asked.filters else (None, Filters())
        with clocked(asked.seconds, "dense"):
            meaning = near(vector, generation, asked.limit, allowed, filters)
    found = others.result()
    return Found(found.search, found.allowed, found.words, meaning, found.subject)


def _by_words(asked: Asked, stage: Stage, narrowed: tuple[Search, Allowed] | None = None) -> Found:
    search, allowed = narrowed or asked.read().narrowed(asked.given)
    words = search.sparse(allowed) if stage != "dense" else None
    return Found(search, allowed, words, None, _verbatim(_subject(search, stage), words, search.generation))


def _subject(search: Search, stage: Stage) -> Subject | None:
    return subject_of(search.query, search.generation, search.knows) if stage in GROUPED else None


def _verbatim(subject: Subject | None, words: Words | None, generation: Generation) -> Subject | None:
    """With what the chunks that words brought hold as the question says it."""
    if subject is None or words is None:
        return subject
    rows, query = [row for row, _ in words.found], subject.query
    return replace(subject, literals=literals_found(query, rows, generation), said=said_by(query, rows, generation.chunks))
