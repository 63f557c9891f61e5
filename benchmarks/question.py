"""A whole question at 50,000 chunks: embedding, both retrievers, ranking, results; beside the obvious hybrid search of the same chunks.

The index is grown as `make bench-growth` grows its own: chunks of real sources and variations of them; a few vectors are the model's,
the others lie beside those. What is asked are fixed questions and what doc comments of the sources say, each new to the retriever.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.frame import Bench, Measure, compared
from benchmarks.growth.build import NAME, build
from benchmarks.material import QUESTIONS
from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.index.chunk_table import ChunkTable
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.term_counts import chunk_terms
from rag.index.tokens import terms
from rag.protocols import Embedder
from rag.retrieval.fusion import reciprocal_rank_fusion
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository

COUNT = 50_000
REAL, EMBEDDED = 20_000, 2_000  # chunks that are cut from sources, and vectors that are the model's
ASKED, WARM = 100, 10  # questions; the first of a round are not counted
TOP, SHOWN = 100, 10
OURS = "footnote, all of it"
THEIRS = "rank_bm25, numpy, RRF"


def run(bench: Bench) -> list[Measure]:
    count = bench.sized(COUNT)
    real = bench.material.chunks(min(count, bench.sized(REAL)))
    data = bench.directory / "question"
    bench.lend_models(data)
    embedder = load_embedder(EmbeddingSettings(), data / "models")
    ChunkTable.write(data / "base" / "chunks", real)
    bench.progress(f"embedding {bench.sized(EMBEDDED):,} chunks")
    np.save(data / "base" / "vectors.npy", embedder.embed_documents([chunk.encoded_text for chunk in real[: bench.sized(EMBEDDED)]]))
    bench.progress(f"indexing {count:,} chunks")
    build(data, count, embed=False)
    docs = list(dict.fromkeys(chunk.doc for chunk in real if chunk.doc))
    questions = [*QUESTIONS, *docs[:: max(1, len(docs) // ASKED)]][: bench.sized(ASKED) + WARM]
    indexes = Indexes(data, default_backend(), embedder.spec)
    slowest: dict[str, list[float]] = {OURS: [], THEIRS: []}
    try:
        with asyncio.Runner() as runner, indexes.for_name(NAME).open() as generation:
            corpus = _corpus(bench, generation)
            sides: dict[str, Callable[[], Callable[[str], object]]] = {
                OURS: lambda: _ours(runner, generation, embedder),
                THEIRS: lambda: _theirs(corpus, generation, embedder),
            }

            def median(name: str) -> float:
                taken = _times(sides[name](), questions)
                slowest[name].append(float(np.percentile(taken, 99)))
                return float(np.median(taken))

            middle = bench.in_turn("question", {name: partial(median, name) for name in sides})
    finally:
        indexes.close()
    size = f"{count:,} chunks, embedding included"
    return [compared(f"question, {size}, p50", "ms", middle, THEIRS), compared(f"question, {size}, p99", "ms", slowest, THEIRS)]


def _corpus(bench: Bench, generation: Generation) -> BM25Okapi:
    bench.progress("counting terms for rank_bm25")
    return BM25Okapi([chunk_terms(chunk) for chunk in generation.chunks.all()])


def _ours(runner: asyncio.Runner, generation: Generation, embedder: Embedder) -> Callable[[str], object]:
    retriever = Retriever(embedder, RetrievalSettings())  # a new one remembers no question
    return lambda question: runner.run(retriever.retrieve(question, generation, Repository(NAME, ""), limit=SHOWN))


def _theirs(words: BM25Okapi, generation: Generation, embedder: Embedder) -> Callable[[str], object]:
    """What one writes in an afternoon: no signals of files, no groups, no folding, no confidence."""
    vectors = np.asarray(generation.vectors)

    def ask(question: str) -> object:
        scores = (words.get_scores(terms(question)), vectors @ embedder.embed_query(question))
        best = [np.argsort(-one, kind="stable")[:TOP].tolist() for one in scores]
        return generation.chunks.get([row for row, _ in reciprocal_rank_fusion(best)[:SHOWN]])

    return ask


def _times(ask: Callable[[str], object], questions: list[str]) -> list[float]:
    taken = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        taken.append(1000 * (time.perf_counter() - started))
    return taken[min(WARM, len(taken) // 2) :]
