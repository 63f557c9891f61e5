"""What speaks for each file: its text, the signals of rag.retrieval.signals by name, and what its score is multiplied by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rag.retrieval import signals
from rag.retrieval.described import Described
from rag.retrieval.evidence import TOP, Evidence
from rag.retrieval.fusion import reciprocal_rank_fusion
from rag.retrieval.matching import Flags, Floats
from rag.retrieval.query import Query
from rag.retrieval.signals import Weights
from rag.retrieval.subject import Subject


class Files:
    """What was said of k files. `shares` are added, their sum multiplied by the `factors`: (k,) each."""

    def __init__(self, shares: Mapping[str, Floats], factors: Mapping[str, Floats]) -> None:
        self.shares = shares
        self.factors = factors
        self.sums: Floats = sum(shares.values(), np.zeros(1))
        self.product: Floats = math.prod(factors.values(), start=np.ones(1))
        self.scores = self.sums * self.product

    def told(self, place: int) -> dict[str, float]:
        """What made a difference to one of them."""
        added = {name: float(share[place]) for name, share in self.shares.items() if share[place]}
        return added | {name: float(factor[place]) for name, factor in self.factors.items() if factor[place] != 1}


def scored(subject: Subject, evidence: Evidence, described: Described, weights: Weights, rrf_k: int) -> Files:
    setup = subject.setup.shares[evidence.files] if subject.setup else np.zeros(len(evidence.files))
    return Files(_shares(subject, evidence, described, setup, weights, rrf_k), _factors(subject, evidence, described, setup, weights))


def _shares(subject: Subject, evidence: Evidence, described: Described, setup: Floats, weights: Weights, rrf_k: int) -> dict[str, Floats]:
    """What is added, but for what has no weight or says nothing."""
    query, definitions, pointed = subject.query, subject.definitions, subject.pointed
    numbers = evidence.files.tolist()
    text = _fused(evidence, weights.sparse_of_symbol if query.symbol else weights.sparse, rrf_k)
    broad = signals.breadth(len(subject.asked.importance))
    shares = {
        "text": text,
        "file name": signals.stem_match(described.names, weights),
        "directories": signals.directory_match(described.directories, weights),
        "coherence": signals.coherence(_scaled(evidence.sums / np.sqrt(evidence.counts)), broad, weights),
    }
    if weights.size:
        shares["size"] = signals.size(evidence.counts, broad, weights)
    if weights.trunk:
        shares["trunk"] = signals.trunk(described.trunk, weights, named=bool(definitions.strength))
    if weights.commits and broad < 1:
        shares["commits"] = signals.commits(subject.changed[evidence.files], broad, weights)
    if weights.tested:
        shares["tested"] = signals.tested(described.of_their_tests(text), weights)
    if definitions.strength and (weights.definition or weights.mention):
        shares["definition"] = signals.defines_what_is_asked(
            _of_files(definitions.strength, numbers), described.called(query.symbol), weights, symbol=bool(query.symbol)
        )
    if pointed.named or pointed.framed:
        named, framed = _of_files(dict.fromkeys(pointed.named, 1.0), numbers), _of_files(pointed.framed, numbers)
        shares["named"] = signals.pointed_at(named, framed, weights)
    if subject.said.files and weights.said:
        shares["said"] = signals.said(_of_files(subject.said.files, numbers), weights)
    if subject.literals.files:
        shares["literal"] = signals.literal(_of_files(subject.literals.files, numbers), weights)
    if subject.setup:
        shares["setup"] = signals.setup(setup, weights)
    if weights.names:
        shares["names"] = signals.names_match(_best_names(subject.names, evidence), weights)
    return shares


def _factors(subject: Subject, evidence: Evidence, described: Described, setup: Floats, weights: Weights) -> dict[str, Floats]:
    """What the sum is multiplied by, but for what holds for no file."""
    query = subject.query
    better = evidence.words - evidence.words[described.ordinary].max(initial=0.0)
    factors = {}
    if (weights.test != 1 and described.test.any()) or (weights.example != 1 and described.example.any()):
        factors["× role"] = signals.role(
            described.test,
            described.example,
            weights,
            tests=query.asks_for_tests or subject.definitions.only_tests,
            examples=query.asks_for_examples,
            better=better,
        )
    if (weights.data != 1 and described.data.any()) or described.odd.any():
        factors["× data"] = signals.material(described.data, described.odd, setup, weights, better=better)
    if (weights.changes != 1 and described.changes.any()) or (weights.translation != 1 and described.translated.any()):
        factors["× page"] = _pages(subject, evidence, described, weights)
    if weights.outdated != 1 and described.old.any():
        factors["× old"] = signals.currency(described.old, weights)
    if weights.variant != 1 and described.variant.any():
        factors["× platform"] = signals.reach(described.variant, weights)
    if weights.level:
        factors["× depth"] = signals.depth(described.levels, weights)
    return factors


def _pages(subject: Subject, evidence: Evidence, described: Described, weights: Weights) -> Floats:
    """(k,) see `signals.page`."""
    translated = described.translated & subject.query.in_english
    apart = described.changes | translated
    answers = evidence.best_text
    return signals.page(unasked_changes(subject.query, described), translated, weights, better=answers - answers[~apart].max(initial=0.0))


def unasked_changes(query: Query, described: Described) -> Flags:
    """(k,) change logs, where the question neither asks what changed nor says their name."""
    unasked: Flags = described.changes & (not query.asks_for_changes) & (described.names.precision == 0)
    return unasked


def _of_files(known: Mapping[int, float], numbers: Sequence[int]) -> Floats:
    """(k,) what is known of the files with these numbers, 0 where nothing is."""
    return np.array([known.get(number, 0.0) for number in numbers]) if known else np.zeros(len(numbers))


def _best_names(names: Floats, evidence: Evidence) -> Floats:
    """(k,) the best of what the names of each file's best chunks say."""
    best = evidence.first_of_each(evidence.text, TOP)
    said: Floats = np.where(best >= 0, names[evidence.rows[best]], 0.0).max(axis=1)
    return said


def _fused(evidence: Evidence, sparse_weight: float, rrf_k: int) -> Floats:
    """(k,) the files' text scores, the best 1."""
    sparse = _scaled(evidence.words)
    if evidence.meaning is None:
        return sparse
    dense = _scaled(evidence.meaning)
    if rrf_k:
        fused = np.zeros(len(sparse))
        for place, score in reciprocal_rank_fusion([np.argsort(-scores, kind="stable").tolist() for scores in (sparse, dense)], rrf_k):
            fused[place] = score
    else:
        fused = sparse_weight * sparse + (1 - sparse_weight) * dense
    best = float(fused.max())
    return fused / best if best > 0 else fused


def _scaled(scores: Floats) -> Floats:
    """The best 1, none below -1; all 0 where nothing is above it, as in a corpus so small that its words' weights are negative."""
    best = float(scores.max())
    return np.maximum(scores / best, -1.0) if best > 0 else np.zeros(len(scores))
