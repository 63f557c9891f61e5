"""What a question's words say of an index by themselves. Nothing of it needs what a search brings, so it is found beside the searches."""

from __future__ import annotations

from dataclasses import dataclass

from rag.index.generation import Generation
from rag.retrieval import confidence
from rag.retrieval.commits import changed_by_commits
from rag.retrieval.definitions import Definitions, definitions_of
from rag.retrieval.described import PathsMet, paths_met
from rag.retrieval.evidence import FILES
from rag.retrieval.importance import Holders, holders_of, importance
from rag.retrieval.literals import NO_LITERALS, Literals
from rag.retrieval.matching import Asked, Floats
from rag.retrieval.misspelt import Knows
from rag.retrieval.names import names_met
from rag.retrieval.pointed import Pointed, pointed_at
from rag.retrieval.query import Query
from rag.retrieval.said import NOTHING_SAID, Said
from rag.retrieval.setup.found import Setup, setup_of
from rag.retrieval.signals import breadth


@dataclass(frozen=True, slots=True)
class Subject:
    """`asked`: the terms and how much each says here; `holders`: the rows that hold them. `definitions`, `pointed`: files that the question
    names. `names`: (n,) how well the names that each chunk defines meet it. `changed`: (f,) see rag.retrieval.commits. `covered`, `known`:
    what rag.retrieval.confidence makes of it. `paths`: how all paths meet it, None where that is found when it is asked for.
    `literals`, `said`: what chunks that words brought hold as the question says it.
    """

    query: Query
    asked: Asked
    holders: Holders
    definitions: Definitions
    pointed: Pointed
    names: Floats
    changed: Floats
    covered: float
    known: float
    setup: Setup | None = None
    paths: PathsMet | None = None
    literals: Literals = NO_LITERALS
    said: Said = NOTHING_SAID

    @property
    def of_members(self) -> bool:
        """Whether the question asks what something is or does that it names and that is defined here: then what else stands there may say
        it."""
        return self.query.asks_for in ("how", "what", "why") and self.query.long is None and bool(self.definitions.strength)


def subject_of(query: Query, generation: Generation, knows: Knows | None = None) -> Subject:
    """`knows`: the words of the language, None where nothing tells. Raises: IndexCorrupt."""
    chunks = generation.chunks
    holders = holders_of(query.terms, generation.stems)
    asked = Asked(query.terms, lambda term: importance(len(holders[term]), len(chunks)))
    return Subject(
        query,
        asked,
        holders,
        definitions_of(query, chunks, FILES, holders),
        pointed_at(query.places, chunks, long=query.long is not None),
        names_met(chunks.defines.words, asked, len(chunks)),
        changed_by_commits(query.stems if breadth(len(asked.importance)) < 1 else (), generation),
        confidence.coverage_by_file(asked, holders, chunks.files, knows),
        confidence.known_share(query.identifiers, generation.sparse),
        setup_of(query, generation),
        paths_met(chunks, asked),
    )
