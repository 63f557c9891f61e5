"""Embedding chunks and questions: our exports in onnxruntime beside sentence-transformers as it comes."""

from __future__ import annotations

from functools import partial

from benchmarks.frame import Bench, Measure, compared, median_ms, seconds
from benchmarks.material import QUESTIONS
from rag.embedding.models import BACKENDS, EmbeddingSettings, load_embedder
from rag.protocols import Embedder

BASE = "sentence-transformers"


def run(bench: Bench) -> list[Measure]:
    texts = [chunk.encoded_text for chunk in bench.material.chunks(bench.sized(1_000))]
    texts = texts[:: max(1, len(texts) // bench.sized(64))][: bench.sized(64)]
    embedders: dict[str, Embedder] = {}
    for backend in BACKENDS:
        bench.progress(f"loading {backend}" + ("" if backend == BASE else ", exporting it first, which takes a while"))
        embedders[backend] = load_embedder(EmbeddingSettings(backend=backend), bench.models)

    def ask(embedder: Embedder) -> float:
        return median_ms(lambda number: embedder.embed_query(QUESTIONS[number]), len(QUESTIONS))

    def embed(embedder: Embedder) -> float:
        return len(texts) / seconds(lambda: embedder.embed_documents(texts))

    chunks = bench.in_turn("chunks", {name: partial(embed, embedder) for name, embedder in embedders.items()})
    questions = bench.in_turn("questions", {name: partial(ask, embedder) for name, embedder in embedders.items()})
    return [
        compared(f"{len(texts)} chunks", "chunks/s", chunks, BASE, better="more"),
        compared("one question", "ms", questions, BASE),
    ]
