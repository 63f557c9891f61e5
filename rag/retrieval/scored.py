"""What speaks for each file: its text, the signals of rag.retrieval.signals by name, and what its score is multiplied by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rag.retrieval import signals
from rag.retrieval.described import Described
from rag.retrieval.evidence import Evidence, file_means
from rag.retrieval.fusion import reciprocal_rank_fusion
from rag.retrieval.matching import Flags, Floats
from rag.retrieval.query import Query
from rag.retrieval.signals import Weights
from rag.retrieval.subject import Subject

_NAMED_CHUNKS = 3  # of a file whose defined names are compared with the question


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


def scored(subject: Subject, evidence: Evidence, combined: Floats, described: Described, weights: Weights, rrf_k: int) -> Files:
    """`combined`: (m,) the chunks' scores by words and by meaning."""
    query, definitions, pointed = subject.query, subject.definitions, subject.pointed
    numbers = evidence.files.tolist()
    sums = np.add.reduceat(combined, evidence.starts) / np.sqrt(evidence.counts)
    words = evidence.best(evidence.sparse)
    better = words - words[described.ordinary].max(initial=0.0)
    text = _fused(evidence, weights.sparse_of_symbol if query.symbol else weights.sparse, rrf_k)
    broad = signals.breadth(len(subject.asked.importance))
    setup = subject.setup.shares[evidence.files] if subject.setup else np.zeros(len(numbers))
    return Files(
        {
            "text": text,
            "file name": signals.stem_match(described.names, weights),
            "directories": signals.directory_match(described.directories, weights),
            "coherence": signals.coherence(_scaled(sums), broad, weights),
            "size": signals.size(evidence.counts, broad, weights),
            "trunk": signals.trunk(described.trunk, weights, named=bool(definitions.strength)),
            "commits": signals.commits(subject.changed[evidence.files], broad, weights),
            "said": signals.said(evidence.best(evidence.said) if evidence.said is not None else np.zeros(len(numbers)), weights),
            "tested": signals.tested(described.of_their_tests(text), weights),
            "definition": signals.defines_what_is_asked(
                _of_files(definitions.strength, numbers), described.called(query.symbol), weights, symbol=bool(query.symbol)
            ),
            "named": signals.pointed_at(_of_files(dict.fromkeys(pointed.named, 1.0), numbers), _of_files(pointed.framed, numbers), weights),
            "literal": signals.literal(_of_files(subject.literals.files, numbers), weights),
            "setup": signals.setup(setup, weights),
            "names": signals.names_match(_best_names(subject.names, combined, evidence, weights), weights),
        },
        {
            "× role": signals.role(
                described.test,
                described.example,
                weights,
                tests=query.asks_for_tests or definitions.only_tests,
                examples=query.asks_for_examples,
                better=better,
            ),
            "× data": signals.material(described.data, described.odd, setup, weights, better=better),
            "× page": _pages(subject, evidence, combined, described, weights),
            "× old": signals.currency(described.old, weights),
            "× platform": signals.reach(described.variant, weights),
            "× depth": signals.depth(described.levels, weights),
        },
    )


def _pages(subject: Subject, evidence: Evidence, combined: Floats, described: Described, weights: Weights) -> Floats:
    """(k,) see `signals.page`."""
    translated = described.translated & subject.query.in_english
    apart = described.changes | translated
    answers = evidence.best(combined)
    return signals.page(unasked_changes(subject.query, described), translated, weights, better=answers - answers[~apart].max(initial=0.0))


def unasked_changes(query: Query, described: Described) -> Flags:
    """(k,) change logs, where the question neither asks what changed nor says their name."""
    unasked: Flags = described.changes & (not query.asks_for_changes) & (described.names.precision == 0)
    return unasked


def _of_files(known: Mapping[int, float], numbers: Sequence[int]) -> Floats:
    """(k,) what is known of the files with these numbers, 0 where nothing is."""
    return np.array([known.get(number, 0.0) for number in numbers]) if known else np.zeros(len(numbers))


def _best_names(names: Floats, combined: Floats, evidence: Evidence, weights: Weights) -> Floats:
    """(k,) the best of what the names of each file's best chunks say."""
    best = np.zeros(len(evidence.files))
    if not weights.names:
        return best
    for rows in evidence.first_of_each(combined, _NAMED_CHUNKS):
        best = np.maximum(best, np.where(rows >= 0, names[evidence.rows[rows]], 0.0))
    return best


def _fused(evidence: Evidence, sparse_weight: float, rrf_k: int) -> Floats:
    """(k,) the files' text scores, the best 1."""
    sparse = _scaled(evidence.best(evidence.sparse))
    if evidence.dense is None:
        return sparse
    dense = _scaled(file_means(evidence, evidence.dense))
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
