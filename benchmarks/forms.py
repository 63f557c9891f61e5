"""BM25 over both forms of the terms, as every question asks them, beside one form alone: what the second one costs on a large index."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.frame import Bench, Measure, compared, times_ms
from benchmarks.growth.material import grown
from benchmarks.material import QUESTIONS
from rag.index.sparse import SparseIndex, best_rows
from rag.index.stems import stem
from rag.index.term_counts import TermCounts
from rag.retrieval.query import Query, understand

COUNT = 200_000
REAL = 10_000  # chunks; the others vary them
TOP = 100
ASKED = 100  # questions
BASE, BOTH, NARROWED = "whole terms alone", "both forms", "both forms, of a quarter of the chunks"


def run(bench: Bench) -> list[Measure]:
    count = bench.sized(COUNT)
    real = bench.material.chunks(bench.sized(REAL))
    counts = TermCounts()
    for number, chunk in enumerate(grown(real, count)):
        if not number % 10_000:
            bench.progress(f"counting terms, {number:,} of {count:,} chunks")
        counts.add(chunk)
    bench.progress("weighing terms")
    whole, stems = SparseIndex.weighed(counts), SparseIndex.weighed(counts.folded(stem))
    docs = [chunk.doc for chunk in real if chunk.doc]
    queries = [understand(text) for text in [*QUESTIONS, *docs[:: max(1, len(docs) // ASKED)]][:ASKED]]
    quarter = np.arange(count) % 4 == 0
    sides: dict[str, Callable[[Query], object]] = {
        BASE: lambda query: best_rows(whole.scores(query.terms), TOP, None, lambda: whole.holding(query.terms)),
        BOTH: lambda query: _both(whole, stems, query, None),
        NARROWED: lambda query: _both(whole, stems, query, quarter),
    }
    slowest: dict[str, list[float]] = {name: [] for name in sides}

    def median(name: str) -> float:
        taken = times_ms(lambda number: sides[name](queries[number]), len(queries))
        slowest[name].append(float(np.percentile(taken, 99)))
        return float(np.median(taken))

    middle = bench.in_turn("query", {name: partial(median, name) for name in sides})
    size = f"{count:,} chunks, best {TOP}"
    return [compared(f"query, {size}, median", "ms", middle, BASE), compared(f"query, {size}, 99th percentile", "ms", slowest, BASE)]


def _both(whole: SparseIndex, stems: SparseIndex, query: Query, allowed: NDArray[np.bool_] | None) -> list[tuple[int, float]]:
    scores = [whole.scores(query.terms), stems.scores(query.stems)]
    if allowed is not None:
        scores = [np.where(allowed, one, 0.0) for one in scores]
    mean = sum(one / (float(one.max(initial=0.0)) or 1.0) for one in scores) / 2
    return best_rows(np.asarray(mean), TOP, allowed, lambda: stems.holding(query.stems))
