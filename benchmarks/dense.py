"""Dense queries, filtered and not: Qdrant's engine in the process (qdrant-edge) beside qdrant-client's local mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from benchmarks.frame import Bench, Measure, compared, median_ms, seconds
from rag.index.dense_client import ClientBackend
from rag.index.dense_edge import EdgeBackend
from rag.protocols import DenseStore, Vector
from rag.types import Chunk, Filters

DIMENSION = 384
QUERIES = 20
TOP = 100
OURS = "qdrant-edge"
THEIRS = "qdrant-client local"


def run(bench: Bench) -> list[Measure]:
    count = bench.sized(3_000)
    bench.progress(f"cutting {count:,} chunks")
    chunks = bench.material.chunks(count)
    vectors, queries = unit_rows(len(chunks)), unit_rows(QUERIES)
    size = f"{len(chunks):,} vectors of {DIMENSION}"
    stores: dict[str, DenseStore] = {}
    built = {}
    try:
        for name, backend in ((OURS, EdgeBackend()), (THEIRS, ClientBackend())):
            bench.progress(f"inserting {size} into {name}")
            home = bench.directory / "dense" / backend.name
            built[name] = [seconds(partial(backend.create, home, vectors, chunks))]
            stores[name] = backend.open(home)
        measures = [compared(f"insert {size}, durable", "s", built, THEIRS)]
        folder, share = _tenth(chunks)
        filters = {
            "query": None,
            f"query, filtered by path ({share:.0%} of the chunks)": Filters(path=(f"{folder}/**",)),
        }
        for what, asked in filters.items():
            sides = {name: partial(ask, store, queries, asked) for name, store in stores.items()}
            measures.append(compared(f"{what}, best {TOP}", "ms", bench.in_turn(what, sides), THEIRS))
        return measures
    finally:
        for store in stores.values():
            store.close()


def ask(store: DenseStore, queries: Vector, filters: Filters | None) -> float:
    return median_ms(lambda query: store.search(queries[query], TOP, filters), len(queries))


def _tenth(chunks: Sequence[Chunk]) -> tuple[str, float]:
    """The folder that holds nearest to a tenth of the chunks, and which share that is."""
    counts = Counter(str(folder) for chunk in chunks for folder in PurePosixPath(chunk.path).parents if str(folder) != ".")
    folder = min(counts, key=lambda name: abs(counts[name] - len(chunks) / 10))
    return folder, counts[folder] / len(chunks)


def unit_rows(count: int) -> Vector:
    """Unit rows around 200 centres, as texts of a repository lie: how fast a store is does not depend on what they mean."""
    random = np.random.default_rng(count)
    centres = np.random.default_rng(1).standard_normal((200, DIMENSION))
    rows = centres[random.integers(len(centres), size=count)] + 0.8 * random.standard_normal((count, DIMENSION))
    unit: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
