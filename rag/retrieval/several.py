"""Several questions in one message: where the repository says little of one of them, it is not what is asked of it."""

from __future__ import annotations

from dataclasses import replace

from rag.index.generation import Generation
from rag.retrieval import confidence
from rag.retrieval.importance import holders_of, importance
from rag.retrieval.matching import Asked
from rag.retrieval.query import Query, searched_terms, understand

ENOUGH = 0.6  # of what the best covered question has: of those about something else two in three are told, one in 250 the other way round


def those_of_here(query: Query, generation: Generation) -> Query:
    """The query of those questions that one file covers nearly as well as the best of them; the words of the others count a third. As it is
    where there are not several, or all are covered alike."""
    if len(query.questions) < 2:
        return query
    covered = [_covered(question, generation) for question in query.questions]
    kept = [question for question, much in zip(query.questions, covered, strict=True) if much >= ENOUGH * max(covered)]
    if len(kept) == len(covered):
        return query
    better = understand(" ".join(kept))
    others = tuple(term for term in dict.fromkeys(query.terms) if term not in better.terms)
    return replace(better, extra=(*query.extra, *others), places=query.places, filters=query.filters, group=query.group)


def _covered(question: str, generation: Generation) -> float:
    terms, chunks = searched_terms(question), generation.chunks
    holders = holders_of(terms, generation.stems)
    asked = Asked(terms, lambda term: importance(len(holders[term]), len(chunks)))
    return confidence.coverage_by_file(asked, holders, chunks.files)
