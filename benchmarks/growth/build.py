"""One size built, in a process of its own: `python -m benchmarks.growth.build` takes a job as JSON and prints what it cost as JSON.

What the builder does once files are cut: count terms, write the sparse part, write vectors, make the dense store, publish.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth.material import grown, vectors_beside
from rag.chunking import CHUNKER_VERSION
from rag.embedding.models import EmbeddingSettings, describe, load_embedder
from rag.index.builder import write_sparse
from rag.index.chunk_table import ChunkTable
from rag.index.corpus import Corpus
from rag.index.dense import default_backend
from rag.index.dense_part import write_dense
from rag.index.files import tree_bytes
from rag.index.forms import Forms
from rag.index.generation import repository_directory
from rag.index.layout import Layout, Pointer, new_generation
from rag.index.manifest import Manifest
from rag.index.measure import PeakMemory, Stopwatch
from rag.index.sparse import SparseIndex

NAME = "growth"
COMMIT = "0" * 40


def main() -> int:
    job = json.loads(sys.stdin.readline())
    print(json.dumps(build(Path(job["data"]), int(job["chunks"]), embed=bool(job["embed"]))))
    return 0


def build(data: Path, count: int, *, embed: bool) -> dict[str, Any]:
    """`data` holds the base's chunks and vectors. `embed`: every chunk by the model. Seconds by stage, bytes on disk, peak memory."""
    held = ChunkTable.open(data / "base" / "chunks")
    base = held.get(range(min(len(held), count)))
    layout = Layout(repository_directory(data, NAME))
    watch = Stopwatch()
    with PeakMemory() as memory:
        home, used = _write(layout, Corpus(chunks=list(grown(base, count))), data, watch, embed=embed)
    return {
        "chunks": count,
        "seconds": {name: watch.seconds[name] for name in ("sparse", "dense", "vectors")},
        "processor": used,
        "peak": memory.bytes,
        "disk": {
            "sparse": tree_bytes(home / "sparse"),
            "vectors": (home / "dense" / "vectors.npy").stat().st_size,
            "dense": tree_bytes(home / "dense" / default_backend().name),
        },
    }


def _write(layout: Layout, corpus: Corpus, data: Path, watch: Stopwatch, *, embed: bool) -> tuple[Path, float]:
    """Writes and publishes a generation; where it is, and seconds of the processor."""
    started = time.process_time()
    with watch.stage("sparse"):
        for chunk in corpus.chunks:
            corpus.terms.add(chunk)
        home = layout.partial(new_generation(datetime.now(UTC), COMMIT))
        manifest = write_sparse(home, _manifest(home, len(corpus.chunks)), corpus)
    draft = home / "dense.partial"
    draft.mkdir()
    with watch.stage("vectors"):
        _write_vectors(draft / "vectors.npy", data, corpus, embed=embed)
    vectors = np.load(draft / "vectors.npy", mmap_mode="r")
    with watch.stage("dense"):
        sparse = Forms(*(SparseIndex.open(home / "sparse" / form) for form in ("bm25", "stems")))
        write_dense(draft, vectors, corpus.chunks, default_backend(), datetime.now(UTC), sparse)
    draft.rename(home / "dense")
    layout.promote(manifest.generation)
    layout.publish(manifest.generation, "")
    layout.clean(Pointer(manifest.generation, ""))
    return layout.generation(manifest.generation), time.process_time() - started


def _write_vectors(path: Path, data: Path, corpus: Corpus, *, embed: bool) -> None:
    if embed:
        embedder = load_embedder(EmbeddingSettings(), data / "models")
        np.save(path, embedder.embed_documents([chunk.encoded_text for chunk in corpus.chunks]))
        return
    real = np.load(data / "base" / "vectors.npy")
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (len(corpus.chunks), real.shape[1]))
    start = 0
    for block in vectors_beside(real, len(rows)):
        rows[start : start + len(block)] = block
        start += len(block)
    rows.flush()


def _manifest(home: Path, count: int) -> Manifest:
    return Manifest(
        repository=NAME,
        generation=home.name.removesuffix(".partial"),
        commit=COMMIT,
        branch="main",
        built_at=datetime.now(UTC),
        chunker=CHUNKER_VERSION,
        embedding=describe(EmbeddingSettings()),
        recipe="",
        scope="",
        documents=0,
        document_bytes=0,
        tree_files=0,
        chunks=count,
        skipped={},
        fallbacks={},
        redactions=0,
        files={},
    )


if __name__ == "__main__":
    raise SystemExit(main())
