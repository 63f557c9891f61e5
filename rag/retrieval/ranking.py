"""Candidates of one group of files to ranked chunks: which file, then which of its chunks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval import signals
from rag.retrieval.evidence import Evidence, Floats, file_best, file_means
from rag.retrieval.fusion import reciprocal_rank_fusion
from rag.retrieval.paths import path_facts, split_words, untranslated, unversioned
from rag.retrieval.pointed import Pointed
from rag.retrieval.query import Query
from rag.retrieval.signals import Asked, Match, Weights

_NAMED_CHUNKS = 3  # of a file whose defined names are compared with the question
_CHOSEN_CHUNKS = 8  # of a file whose defined names decide which of them comes first


@dataclass(frozen=True, slots=True)
class Ranked:
    """`shares`: what each signal added to the file's score, and what it was multiplied by ("× test")."""

    row: int
    score: float
    shares: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Definitions:
    """Where the identifiers of a question are defined. `strength`: file -> of its best definition; `only_tests`: nowhere else."""

    strength: dict[int, float]
    only_tests: bool

    @property
    def files(self) -> NDArray[np.int64]:
        return np.array(sorted(self.strength), dtype=np.int64)


def definitions_of(query: Query, chunks: ChunkTable, most: int) -> Definitions:
    """Looks the question's identifiers up; of files beyond `most` the rest is left out."""
    strength: dict[int, float] = {}
    for name in query.identifiers:
        rows = chunks.defines.defining(name)
        for row, chunk in zip(rows[: 4 * most].tolist(), chunks.get(rows[: 4 * most].tolist()), strict=True):
            number = int(chunks.path_numbers[row])
            if not chunks.files.prose[number]:
                strength[number] = max(strength.get(number, 0.0), signals.definition(chunk, name))
    kept = dict(sorted(strength.items(), key=lambda item: (-item[1], item[0]))[:most])
    return Definitions(kept, bool(kept) and all(path_facts(chunks.paths[number]).test for number in kept))


def rank(
    query: Query,
    asked: Asked,
    evidence: Evidence,
    chunks: ChunkTable,
    definitions: Definitions,
    pointed: Pointed,
    weights: Weights,
    *,
    limit: int,
    rrf_k: int = 0,
) -> list[Ranked]:
    """Up to `limit` chunks, best first. `rrf_k`: fuses files by reciprocal rank where it is not 0, by scores where it is."""
    if not len(evidence.files):
        return []
    text = _fused(evidence, weights.sparse_of_symbol if query.symbol else weights.sparse, rrf_k)
    combined = evidence.sparse if evidence.dense is None else 0.5 * evidence.sparse + 0.5 * np.maximum(evidence.dense, 0.0)
    counts = np.diff(np.append(evidence.starts, len(evidence.rows)))
    sums = np.add.reduceat(combined, evidence.starts) / np.sqrt(counts)
    about = sums / max(float(sums.max()), 1e-9)
    odd = chunks.odd[evidence.files].tolist()
    words = file_best(evidence, evidence.sparse)
    facts = [path_facts(chunks.paths[number]) for number in evidence.files.tolist()]
    ordinary = max((float(words[place]) for place, fact in enumerate(facts) if not (fact.test or fact.example or odd[place])), default=0.0)
    translated = [
        query.in_english and any(twin in chunks.path_set for twin in untranslated(chunks.paths[number]))
        for number in evidence.files.tolist()
    ]
    apart = [other or fact.changes for fact, other in zip(facts, translated, strict=True)]
    answers = file_best(evidence, combined)
    common = max((float(answers[place]) for place, one in enumerate(apart) if not one), default=0.0)
    tests = query.asks_for_tests or definitions.only_tests
    broad, largest = signals.breadth(len(asked.importance)), int(counts.max())
    scored: list[_File] = []
    for place, (number, fact) in enumerate(zip(evidence.files.tolist(), facts, strict=True)):
        shares = {
            "text": float(text[place]),
            "file name": signals.stem_match(asked.match(fact.stem), weights),
            "directories": signals.directory_match(asked.match(fact.directories), weights),
            "coherence": signals.coherence(float(about[place]), broad, weights),
            "size": signals.size(int(counts[place]), largest, broad, weights),
            "definition": signals.defines_what_is_asked(definitions.strength.get(number, 0.0), fact, query.symbol, weights),
            "named": signals.pointed_at(number in pointed.named, pointed.framed.get(number, 0.0), weights),
        }
        factors = {
            "× role": signals.role(fact, weights, tests=tests, examples=query.asks_for_examples, better=float(words[place]) - ordinary),
            "× old": signals.currency(fact, unversioned(chunks.paths[number]) in chunks.path_set, weights),
            "× odd": signals.oddity(odd[place], weights, better=float(words[place]) - ordinary),
            "× page": signals.page(
                fact,
                weights,
                changes=query.asks_for_changes or asked.match(fact.stem).precision > 0,
                translated=translated[place],
                better=float(answers[place]) - common,
            ),
            "× depth": signals.depth(fact, weights),
        }
        scored.append(_File(place, shares, factors))
    lifted = _best_by_text(combined, evidence, weights)
    files = _most_promising(scored, limit, weights, {place for _, place in lifted})
    if weights.names:
        for file in files:
            file.shares["names"] = signals.names_match(_names(file.place, combined, evidence, chunks, asked), weights)
    files.sort(key=lambda file: (-file.score, file.place))
    results = [
        Ranked(row, file.score * factor, file.told | ({"× repeat": factor} if factor != 1 else {}))
        for file in files[:limit]
        for row, factor in _chunks(file.place, evidence, chunks, asked, pointed, weights, limit)
    ]
    results.sort(key=lambda ranked: (-ranked.score, ranked.row))
    by_place = {file.place: file for file in files}
    return _with_lifted(results, [(row, by_place[place]) for row, place in lifted], weights)[:limit]


@dataclass(slots=True)
class _File:
    """`place`: in the evidence. `shares` are added, their sum multiplied by the `factors`."""

    place: int
    shares: dict[str, float]
    factors: dict[str, float]

    @property
    def score(self) -> float:
        return sum(self.shares.values()) * math.prod(self.factors.values())

    @property
    def told(self) -> dict[str, float]:
        """What made a difference."""
        added = {name: share for name, share in self.shares.items() if share}
        return added | {name: factor for name, factor in self.factors.items() if factor != 1}


def _most_promising(files: Sequence[_File], limit: int, weights: Weights, always: Collection[int]) -> list[_File]:
    """Those that may be among the best `limit` once their defined names, which take longest to compare, count; and those at the places
    `always`."""
    if len(files) <= limit:
        return list(files)
    least = sorted((file.score for file in files), reverse=True)[limit - 1]
    return [
        file
        for file in files
        if file.place in always or (sum(file.shares.values()) + weights.names) * math.prod(file.factors.values()) >= least
    ]


def _best_by_text(combined: Floats, evidence: Evidence, weights: Weights) -> list[tuple[int, int]]:
    """The rows that answer best by their text alone, with the places of their files."""
    best = np.argsort(-combined, kind="stable")[: weights.lifted]
    places = np.searchsorted(evidence.starts, best, side="right") - 1
    return list(zip(evidence.rows[best].tolist(), places.tolist(), strict=True))


def _with_lifted(results: list[Ranked], lifted: Sequence[tuple[int, _File]], weights: Weights) -> list[Ranked]:
    """What answers best by its text alone stands no further back than its place, whatever is said of its file."""
    head, tail = results[: weights.lifted_to], results[weights.lifted_to :]
    shown = {ranked.row for ranked in head}
    files = [(row, file) for row, file in lifted if row not in shown]
    if len(head) < weights.lifted_to or not files:
        return results
    least = head[-1].score
    up = [Ranked(row, least, file.told | {"× text alone": least / file.score if file.score else 1.0}) for row, file in files]
    rows = {row for row, _ in files}
    return [*head, *up, *(ranked for ranked in tail if ranked.row not in rows)]


def _fused(evidence: Evidence, sparse_weight: float, rrf_k: int) -> Floats:
    """(k,) the files' text scores, the best 1."""
    sparse = _scaled(file_best(evidence, evidence.sparse))
    if evidence.dense is None:
        return sparse
    dense = _scaled(file_means(evidence, evidence.dense))
    if rrf_k:
        fused = np.zeros(len(sparse))
        for place, score in reciprocal_rank_fusion([np.argsort(-scores, kind="stable").tolist() for scores in (sparse, dense)], rrf_k):
            fused[place] = score
    else:
        fused = sparse_weight * sparse + (1 - sparse_weight) * dense
    return fused / max(float(fused.max()), 1e-9)


def _scaled(scores: Floats) -> Floats:
    best = float(scores.max())
    return scores / best if best > 0 else np.zeros(len(scores))


def _names(place: int, combined: Floats, evidence: Evidence, chunks: ChunkTable, asked: Asked) -> list[Match]:
    of_file = evidence.of_file(place)
    best = np.argsort(-combined[of_file], kind="stable")[:_NAMED_CHUNKS]
    return [asked.match(split_words(name)) for row in evidence.rows[of_file][best].tolist() for name in chunks.defines.of_row(row)]


def _chunks(
    place: int, evidence: Evidence, chunks: ChunkTable, asked: Asked, pointed: Pointed, weights: Weights, most: int
) -> Sequence[tuple[int, float]]:
    """Up to `most` of a file's rows in the order in which they answer, each with what the file's score is multiplied by."""
    of_file = evidence.of_file(place)
    rows = evidence.rows[of_file]
    scores = weights.lines_sparse * _scaled(evidence.sparse[of_file])
    if evidence.dense is not None:
        scores = scores + weights.lines_dense * _scaled(np.maximum(evidence.dense[of_file], 0.0))
    for position in np.argsort(-scores, kind="stable")[:_CHOSEN_CHUNKS].tolist() if weights.lines_names else ():
        names = (asked.match(split_words(name)).f1 for name in chunks.defines.of_row(int(rows[position])))
        scores[position] += weights.lines_names * max(names, default=0.0)
    if pointed.rows:
        scores = scores + weights.lines_pointed * np.fromiter((row in pointed.rows for row in rows.tolist()), np.float64, len(rows))
    order = np.argsort(-scores, kind="stable")
    best = max(float(scores[order[0]]), 1e-9)
    return [
        (int(rows[position]), signals.repeated(repeat, float(scores[position]) / best, weights))
        for repeat, position in enumerate(order[:most])
    ]
