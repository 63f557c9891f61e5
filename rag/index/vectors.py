"""Chunks -> `vectors.npy`, a slice at a time, so that a build never holds all vectors and a killed one has cached what it computed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from rag.embedding.cache import embed_with_cache, open_cache
from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.errors import BuildFailed
from rag.index.measure import Stopwatch
from rag.protocols import Vector
from rag.types import Chunk

logger = logging.getLogger(__name__)

# Texts are sorted by length inside a slice: a large one pads less.
SLICE = 4_096
_UNIT = 1e-3


def embed_to_file(
    path: Path,
    chunks: Sequence[Chunk],
    settings: EmbeddingSettings,
    data_dir: Path,
    watch: Stopwatch,
    on_progress: Callable[[int, int], None],
) -> tuple[Vector, int, int]:
    """Writes (n, d) float32 unit rows and maps them. Returns them with how many were embedded and how many the cache had.

    Written in order and not through a map: a disk that fills up then is an error, where a map would end the process.
    Raises: ModelError, BuildFailed (the model returned no unit vectors), OSError.
    """
    total = len(chunks)
    on_progress(0, total)
    with watch.stage("model"):
        embedder = load_embedder(settings, data_dir / "models")
    dimension = embedder.spec.dimension
    embedded = reused = 0
    cache = open_cache(data_dir / "embeddings.sqlite")
    try:
        with watch.stage("embed"), path.open("wb") as file:
            npy.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (total, dimension)})
            for start in range(0, total, SLICE):
                texts = [chunk.encoded_text for chunk in chunks[start : start + SLICE]]

                def on_slice(done: int, _: int, start: int = start) -> None:
                    on_progress(start + done, total)

                vectors, computed, found = embed_with_cache(embedder, cache, texts, on_slice)
                _check(vectors, (len(texts), dimension))
                file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
                embedded += computed
                reused += found
            on_progress(total, total)
            if cache is not None:
                cache.evict()
    finally:
        if cache is not None:
            cache.close()
    mapped: Vector = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped, embedded, reused


def _check(vectors: Vector, shape: tuple[int, int]) -> None:
    lengths = np.linalg.norm(vectors, axis=1) if vectors.shape == shape else np.zeros(1)
    if not (np.abs(lengths - 1) < _UNIT).all():
        raise BuildFailed(
            "The embedding model returned vectors that are not of unit length, or not as many as were asked.",
            "Check the model with `footnote doctor`; remove its export under models/ to have it made again.",
        )
