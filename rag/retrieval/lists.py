"""The stage "ranked": both groups of files ranked, which of them leads, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.best import first_of
from rag.index.generation import Generation
from rag.retrieval import confidence, ranking
from rag.retrieval.candidates import Candidates
from rag.retrieval.described import describe
from rag.retrieval.evidence import Evidence, gather
from rag.retrieval.groups import CLEARLY_ABOVE, LEADS_ABOVE, Grounds, GroupName, how_to, lead_of_prose, leaning
from rag.retrieval.matching import Flags, Floats
from rag.retrieval.query_filters import Group
from rag.retrieval.ranking import Ranked
from rag.retrieval.scored import unasked_changes
from rag.retrieval.signals import CODE, LONG_CODE, LONG_PROSE, PROSE, fitting, of_members
from rag.retrieval.subject import Subject

_OF_FIT = ("text", "file name", "names", "definition")  # signals of a file that say how well it meets this question
_OF_SETUP = 1.5  # of that, where the question asks how the repository is set up and settings answer
_SURE_OF_SETUP = 0.9  # so sure a file is that says it: "what does CI run" holds no word that the answer must hold
_NEAREST = 5  # chunks of a group whose names tell which group leads
_NOTHING = np.zeros(0, dtype=np.int64)
_NAMES: tuple[GroupName, GroupName] = ("code", "prose")


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
    files, backend = chunks.files, generation.manifest.embedding.backend
    found = [files.numbers[[row for row, _ in rows]] for rows in (words.found, candidates.dense) if rows]
    named = np.concatenate([subject.pointed.files, subject.setup.files if subject.setup else _NOTHING])
    extra = (np.concatenate([subject.definitions.files, named]), named)
    gathered = gather(files, words.of_files, words.scores, allowed, found, extra, candidates.similarity)
    code_weights, prose_weights = (LONG_CODE, LONG_PROSE) if subject.query.long else (CODE, PROSE)
    if subject.of_members:
        code_weights = of_members(code_weights)
    parts = gathered.halves(int((~files.prose[gathered.files]).sum()))
    groups = [
        ranking.Group(part, describe(part.files, chunks, subject.asked, subject.paths), fitting(weights, backend), first)
        for part, weights, first in zip(parts, (code_weights, prose_weights), (0, len(parts[0].files)), strict=True)
    ]
    wanted = [name for name in _NAMES if group in ("", name)]
    ranked = ranking.rank(subject, gathered, [groups[_NAMES.index(name)] for name in wanted], limit=limit, rrf_k=candidates.fusing.rrf_k)
    lists: dict[GroupName, list[Ranked]] = {"code": [], "prose": [], **dict(zip(wanted, ranked, strict=True))}
    grounds = dict(zip(_NAMES, _grounds(groups, subject, generation, candidates), strict=True))
    lead = _lead_of_prose(grounds, subject) if group == "" else 0.0
    leads: GroupName = "prose" if group == "prose" or lead > LEADS_ABOVE else "code"
    other: GroupName = "code" if leads == "prose" else "prose"
    sure = _confidence(grounds, lists[leads], subject, generation, candidates)
    return Lists(lists[leads], lists[other], leads, sure, narrowly=LEADS_ABOVE < lead <= CLEARLY_ABOVE)


def _grounds(groups: Sequence[ranking.Group], subject: Subject, generation: Generation, candidates: Candidates) -> list[Grounds]:
    """Of each group, without change logs and forms that nobody asked for: every word of a repository stands there once, and answers
    nothing."""
    counted = [~(unasked_changes(subject.query, one.described) | one.described.form) for one in groups]
    rows = [_counted_rows(one.evidence, files) for one, files in zip(groups, counted, strict=True)]
    holding = [
        one.evidence.rows[of_group][first_of(one.evidence.sparse[of_group], confidence.BEST)]
        for one, of_group in zip(groups, rows, strict=True)
    ]
    covered = np.split(confidence.coverage(subject.asked, subject.holders, np.concatenate(holding)), [len(holding[0])])
    return [
        _grounds_of(*one, subject, generation, candidates) if one[1].any() else Grounds()
        for one in zip(groups, counted, rows, covered, strict=True)
    ]


def _counted_rows(evidence: Evidence, files: Flags) -> Flags | slice:
    """Which rows are of these files; where that is all of them nothing need be copied."""
    return slice(None) if files.all() else files[evidence.owner]


def _grounds_of(
    group: ranking.Group,
    files: Flags,
    rows: Flags | slice,
    covered: Floats,
    subject: Subject,
    generation: Generation,
    candidates: Candidates,
) -> Grounds:
    evidence = group.evidence
    similarity = 0.0
    if candidates.similarity is not None and evidence.dense is not None:
        cosine = candidates.similarity.cosine(float(evidence.nearest[files].max()))
        similarity = confidence.comparable(cosine, generation.manifest.embedding.backend)
    names = subject.names[evidence.rows[rows][first_of(evidence.text[rows], _NEAREST)]]
    setup = float(subject.setup.shares[evidence.files].max(initial=0.0)) if subject.setup else 0.0
    return Grounds(
        similarity,
        float(covered.max(initial=0.0)),
        group.described.best_name,
        float(evidence.best_text[files].max()),
        float(names.max(initial=0.0)),
        setup,
    )


def _lead_of_prose(grounds: Mapping[GroupName, Grounds], subject: Subject) -> float:
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
    grounds: Mapping[GroupName, Grounds], leading: Sequence[Ranked], subject: Subject, generation: Generation, candidates: Candidates
) -> float | None:
    if candidates.similarity is None:
        return None
    similarity = candidates.own_best
    if similarity is None:
        similarity = max(one.similarity for one in grounds.values())
    answered = subject.setup.answered if subject.setup else 0.0
    fit = _OF_SETUP * answered + sum(leading[0].shares.get(signal, 0.0) for signal in _OF_FIT) if leading else 0.0
    raw = confidence.raw_confidence(similarity, subject.covered, subject.known, fit, len(generation.chunks), subject.said.most)
    return max(confidence.calibrated(raw), _SURE_OF_SETUP * answered)
