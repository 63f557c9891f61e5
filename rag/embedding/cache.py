"""Embedding many texts, each different one once, and none that the cache knows."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rag.embedding.cache_file import EmbeddingCache
from rag.errors import FootnoteError
from rag.protocols import Embedder, Vector

__all__ = ["EmbeddingCache", "embed_with_cache", "open_cache"]

log = logging.getLogger(__name__)

SLICE = 128  # texts between two reports of progress, each written to the cache when it is done: a killed build loses no more


def open_cache(path: Path) -> EmbeddingCache | None:
    """None, and a warning, for a cache that cannot be opened: that costs time, never what the vectors are for."""
    try:
        return EmbeddingCache(path)
    except (OSError, sqlite3.Error, FootnoteError) as error:
        log.warning("the embedding cache %s cannot be used: %s", path, error)
        return None


def embed_with_cache(
    embedder: Embedder,
    cache: EmbeddingCache | None,
    texts: Sequence[str],
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Vector, int, int]:
    """The (n, d) float32 unit rows of `texts`, how many were computed, and how many were reused (from the cache or from an equal text).

    `on_progress(done, total)` counts texts. A cache that cannot be read or written costs time and a warning, never the build.
    """
    spec = embedder.spec
    vectors: Vector = np.zeros((len(texts), spec.dimension), dtype=np.float32)
    known = _get(cache, embedder, texts)
    for index, vector in known.items():
        vectors[index] = vector
    places: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        if index not in known:
            places.setdefault(text, []).append(index)
    done = len(known)
    if on_progress:
        on_progress(done, len(texts))
    # Long texts first: the estimate of what is left errs on the safe side, and the threads of a slice end together.
    todo = sorted(places, key=len, reverse=True)
    for start in range(0, len(todo), SLICE):
        some = todo[start : start + SLICE]
        fresh = embedder.embed_documents(some)
        for text, vector in zip(some, fresh, strict=True):
            vectors[places[text]] = vector
            done += len(places[text])
        cache = _put(cache, embedder, some, fresh)
        if on_progress:
            on_progress(done, len(texts))
    return vectors, len(places), len(texts) - len(places)


def _get(cache: EmbeddingCache | None, embedder: Embedder, texts: Sequence[str]) -> dict[int, Vector]:
    if cache is None:
        return {}
    try:
        return cache.get_many(embedder.spec, texts)
    except sqlite3.Error as error:
        log.warning("The embedding cache cannot be read (%s); everything is embedded.", error)
        return {}


def _put(cache: EmbeddingCache | None, embedder: Embedder, texts: Sequence[str], vectors: Vector) -> EmbeddingCache | None:
    """The cache to go on with: None once it has failed."""
    if cache is None:
        return None
    try:
        cache.put_many(embedder.spec, texts, vectors)
    except sqlite3.Error as error:
        log.warning("The embedding cache cannot be written (%s); this build goes on without it.", error)
        return None
    return cache
