"""The stage "ranked": both groups of files ranked, which of them leads, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.generation import Generation
from rag.retrieval import confidence
from rag.retrieval.candidates import Candidates
from rag.retrieval.evidence import FILES, Evidence, gather
from rag.retrieval.groups import CLEARLY_ABOVE, LEADS_ABOVE, Grounds, GroupName, lead_of_prose, leaning
from rag.retrieval.importance import Holders, holders_of, importance
from rag.retrieval.paths import path_facts, split_words
from rag.retrieval.pointed import pointed_at
from rag.retrieval.query import Query
from rag.retrieval.query_filters import Group
from rag.retrieval.ranking import Definitions, Ranked, definitions_of, rank
from rag.retrieval.signals import CODE, LONG_CODE, LONG_PROSE, PROSE, Asked, fitting

_NEAREST = 5  # chunks of a group whose names tell which group leads
_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Lists:
    """`leading`, `others`: the results of the two groups, each best first. `leads`: the name of the leading one. `confidence`: 0 to 1, None
    where nothing was searched by meaning. `narrowly`: prose leads, but may well be the wrong one.
    """

    leading: Sequence[Ranked]
    others: Sequence[Ranked] = ()
    leads: GroupName = "code"
    confidence: float | None = None
    narrowly: bool = False


def ranked_lists(
    query: Query, candidates: Candidates, generation: Generation, allowed: NDArray[np.bool_] | None, group: Group, limit: int
) -> Lists:
    """Ranks what was found. `allowed`: (n,) rows that may be found, None for all; `group`: the only one that is wanted, "" for both;
    `limit`: most results of each.
    """
    chunks, words = generation.chunks, candidates.sparse
    if words is None or not len(chunks):
        return Lists([])
    holders = holders_of(query.terms, generation.stems)
    asked = Asked(query.terms, lambda term: importance(len(holders[term]), len(chunks)))
    definitions = definitions_of(query, chunks, FILES)
    pointed = pointed_at(query.places, chunks, long=query.long is not None)
    found = [np.fromiter((row for row, _ in rows), np.int64) for rows in (words.found, candidates.dense or ())]
    lists: dict[str, list[Ranked]] = {}
    grounds: dict[str, Grounds] = {}
    code_weights, prose_weights = (LONG_CODE, LONG_PROSE) if query.long else (CODE, PROSE)
    for name, of_group, weights in (("code", ~chunks.files.prose, code_weights), ("prose", chunks.files.prose, prose_weights)):
        weights = fitting(weights, generation.manifest.embedding.backend)
        extra = np.concatenate([definitions.files if name == "code" else _NOTHING, pointed.files])
        evidence = gather(chunks.files, of_group, words.scores, allowed, found, extra, candidates.similarity)
        grounds[name] = _grounds(evidence, asked, holders, generation, candidates)
        wanted = group in ("", name)
        lists[name] = (
            rank(query, asked, evidence, chunks, definitions, pointed, weights, limit=limit, rrf_k=candidates.fusing.rrf_k)
            if wanted
            else []
        )
    lead = _lead_of_prose(grounds, query, definitions) if group == "" else 0.0
    leads: GroupName = "prose" if group == "prose" or lead > LEADS_ABOVE else "code"
    other = "code" if leads == "prose" else "prose"
    sure = _confidence(grounds, query, asked, holders, generation, candidates)
    return Lists(lists[leads], lists[other], leads, sure, narrowly=LEADS_ABOVE < lead <= CLEARLY_ABOVE)


def _grounds(evidence: Evidence, asked: Asked, holders: Holders, generation: Generation, candidates: Candidates) -> Grounds:
    if not len(evidence.rows):
        return Grounds()
    similarity = 0.0
    if candidates.similarity is not None and evidence.dense is not None:
        cosine = candidates.similarity.cosine(float(evidence.dense.max()))
        similarity = confidence.comparable(cosine, generation.manifest.embedding.backend)
    best = evidence.rows[np.argsort(-evidence.sparse, kind="stable")]
    matches = [asked.match(path_facts(generation.chunks.paths[number]).stem) for number in evidence.files.tolist()]
    stem = max(match.precision * match.coverage**0.5 for match in matches)
    text = evidence.sparse if evidence.dense is None else 0.5 * evidence.sparse + 0.5 * np.maximum(evidence.dense, 0.0)
    nearest = evidence.rows[np.argsort(-text, kind="stable")[:_NEAREST]].tolist()
    names = (asked.match(split_words(name)).f1 for row in nearest for name in generation.chunks.defines.of_row(row))
    return Grounds(similarity, confidence.coverage(asked, holders, best.tolist()), stem, float(text.max()), max(names, default=0.0))


def _lead_of_prose(grounds: dict[str, Grounds], query: Query, definitions: Definitions) -> float:
    return lead_of_prose(
        grounds["code"],
        grounds["prose"],
        symbol=bool(query.symbol),
        identifier_defined=bool(definitions.strength),
        documentation=query.asks_for == "documentation",
        leaning=leaning(query.long.title if query.long else query.text),
    )


def _confidence(
    grounds: dict[str, Grounds], query: Query, asked: Asked, holders: Holders, generation: Generation, candidates: Candidates
) -> float | None:
    if candidates.similarity is None:
        return None
    known = confidence.known_share(query.identifiers, generation.sparse)
    similarity = candidates.own_best
    if similarity is None:
        similarity = max(one.similarity for one in grounds.values())
    covered = confidence.coverage_by_file(asked, holders, generation.chunks.files)
    return confidence.calibrated(confidence.raw_confidence(similarity, covered, known, len(generation.chunks)))
