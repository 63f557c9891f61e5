"""The stage "ranked": both groups of files ranked, which of them leads, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.index.generation import Generation
from rag.retrieval import confidence
from rag.retrieval.candidates import Candidates
from rag.retrieval.described import Described, describe
from rag.retrieval.evidence import Evidence, first_of, gather
from rag.retrieval.groups import CLEARLY_ABOVE, LEADS_ABOVE, Grounds, GroupName, how_to, lead_of_prose, leaning
from rag.retrieval.literals import literals_found
from rag.retrieval.matching import Floats
from rag.retrieval.query_filters import Group
from rag.retrieval.ranking import Ranked, rank
from rag.retrieval.said import said_in
from rag.retrieval.scored import unasked_changes
from rag.retrieval.signals import CODE, LONG_CODE, LONG_PROSE, PROSE, fitting, of_members
from rag.retrieval.subject import Subject

_OF_FIT = ("text", "file name", "names", "definition")  # signals of a file that say how well it meets this question
_OF_SETUP = 1.5  # of that, where the question asks how the repository is set up and settings answer
_SURE_OF_SETUP = 0.9  # so sure a file is that says it: "what does CI run" holds no word that the answer must hold
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
    subject: Subject, candidates: Candidates, generation: Generation, allowed: NDArray[np.bool_] | None, group: Group, limit: int
) -> Lists:
    """Ranks what was found. `allowed`: (n,) rows that may be found, None for all; `group`: the only one that is wanted, "" for both;
    `limit`: most results of each.
    """
    chunks, words = generation.chunks, candidates.sparse
    if words is None or not len(chunks):
        return Lists([])
    files = chunks.files
    subject = replace(subject, literals=literals_found(subject.query, [row for row, _ in words.found], generation))
    found = [files.numbers[[row for row, _ in rows]] for rows in (words.found, candidates.dense) if rows]
    lists: dict[str, list[Ranked]] = {}
    grounds: dict[str, Grounds] = {}
    code_weights, prose_weights = (LONG_CODE, LONG_PROSE) if subject.query.long else (CODE, PROSE)
    if subject.of_members:
        code_weights = of_members(code_weights)
    said = said_in(subject.query, [row for row, _ in words.found], chunks)
    for name, of_group, weights in (("code", ~files.prose, code_weights), ("prose", files.prose, prose_weights)):
        weights = fitting(weights, generation.manifest.embedding.backend)
        setup = subject.setup.files if subject.setup else _NOTHING
        extra = np.concatenate([subject.definitions.files if name == "code" else _NOTHING, subject.pointed.files, setup])
        evidence = gather(files, of_group, words.of_files, words.scores, allowed, found, extra, candidates.similarity)
        evidence = replace(evidence, said=_of_rows(said, evidence))
        described = describe(evidence.files, chunks, subject.asked)
        grounds[name] = _grounds(evidence, described, subject, generation, candidates)
        wanted = group in ("", name)
        lists[name] = rank(subject, evidence, described, weights, limit=limit, rrf_k=candidates.fusing.rrf_k) if wanted else []
    lead = _lead_of_prose(grounds, subject) if group == "" else 0.0
    leads: GroupName = "prose" if group == "prose" or lead > LEADS_ABOVE else "code"
    other = "code" if leads == "prose" else "prose"
    sure = _confidence(grounds, lists[leads], subject, generation, candidates, max(said.values(), default=0.0))
    return Lists(lists[leads], lists[other], leads, sure, narrowly=LEADS_ABOVE < lead <= CLEARLY_ABOVE)


def _of_rows(said: Mapping[int, float], evidence: Evidence) -> Floats | None:
    return np.array([said.get(row, 0.0) for row in evidence.rows.tolist()]) if said else None


def _grounds(evidence: Evidence, described: Described, subject: Subject, generation: Generation, candidates: Candidates) -> Grounds:
    """Without change logs and forms that nobody asked for: every word of a repository stands there once, and answers nothing."""
    counted = ~(unasked_changes(subject.query, described) | described.form)[evidence.owner]
    if not counted.any():
        return Grounds()
    rows, sparse = evidence.rows[counted], evidence.sparse[counted]
    dense = None if evidence.dense is None else evidence.dense[counted]
    similarity = 0.0
    if candidates.similarity is not None and dense is not None:
        cosine = candidates.similarity.cosine(float(dense.max()))
        similarity = confidence.comparable(cosine, generation.manifest.embedding.backend)
    covered = confidence.coverage(subject.asked, subject.holders, rows[first_of(sparse, confidence.BEST)].tolist())
    text = sparse if dense is None else 0.5 * sparse + 0.5 * np.maximum(dense, 0.0)
    names = subject.names[rows[first_of(text, _NEAREST)]]
    setup = float(subject.setup.shares[evidence.files].max(initial=0.0)) if subject.setup else 0.0
    return Grounds(similarity, covered, described.best_name, float(text.max()), float(names.max(initial=0.0)), setup)


def _lead_of_prose(grounds: dict[str, Grounds], subject: Subject) -> float:
    query = subject.query
    question = query.long.title if query.long else query.text
    return lead_of_prose(
        grounds["code"],
        grounds["prose"],
        symbol=bool(query.symbol),
        identifier_defined=bool(subject.definitions.strength),
        documentation=query.asks_for == "documentation",
        leaning=leaning(question),
        how_to=how_to(question),
        documented=subject.definitions.documented,
    )


def _confidence(
    grounds: dict[str, Grounds],
    leading: Sequence[Ranked],
    subject: Subject,
    generation: Generation,
    candidates: Candidates,
    said: float,
) -> float | None:
    if candidates.similarity is None:
        return None
    similarity = candidates.own_best
    if similarity is None:
        similarity = max(one.similarity for one in grounds.values())
    answered = subject.setup.answered if subject.setup else 0.0
    fit = _OF_SETUP * answered + sum(leading[0].shares.get(signal, 0.0) for signal in _OF_FIT) if leading else 0.0
    raw = confidence.raw_confidence(similarity, subject.covered, subject.known, fit, len(generation.chunks), said)
    return max(confidence.calibrated(raw), _SURE_OF_SETUP * answered)
