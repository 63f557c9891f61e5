"""BM25 queries and builds: our weights in a sparse matrix beside rank-bm25's own loop over every document, whose scores they equal."""

from __future__ import annotations

import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.frame import Bench, Measure, compared, median_ms, seconds
from benchmarks.material import QUESTIONS
from rag.index.sparse import SparseIndex
from rag.index.term_counts import chunk_terms
from rag.index.tokens import terms

OURS = "footnote SparseIndex"
THEIRS = "rank_bm25 get_scores"
TOP = 100


def run(bench: Bench) -> list[Measure]:
    count = bench.sized(20_000)
    bench.progress(f"cutting {count:,} chunks")
    chunks = bench.material.chunks(count)
    corpus = [chunk_terms(chunk) for chunk in chunks]
    queries = [terms(question) for question in QUESTIONS]
    bench.progress("counting terms")
    ours, theirs = SparseIndex.from_terms(corpus), BM25Okapi(corpus)
    worst = max(float(np.abs(ours.scores(query) - theirs.get_scores(query)).max()) for query in queries[:3])
    if worst > 1e-9:
        raise AssertionError(f"scores differ by {worst}: what is compared does not do the same work")

    def best(query: int) -> list[int]:
        scores = theirs.get_scores(queries[query])
        return [int(row) for row in np.argsort(-scores, kind="stable")[:TOP]]

    size = f"{len(chunks):,} chunks"
    searched = bench.in_turn(
        "query",
        {
            OURS: lambda: median_ms(lambda query: ours.search(queries[query], TOP), len(queries)),
            THEIRS: lambda: median_ms(best, len(queries)),
        },
    )
    built = bench.in_turn(
        "build", {OURS: lambda: seconds(lambda: SparseIndex.from_terms(corpus)), THEIRS: lambda: seconds(lambda: BM25Okapi(corpus))}
    )
    return [
        compared(f"query, {size}, best {TOP}", "ms", searched, THEIRS),
        compared(f"build from terms, {size}", "s", built, THEIRS),
    ]
