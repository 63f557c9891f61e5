"""The dense part of a generation: its vectors, and a store made of them that can be made again.

dense/manifest.json   back end, counts, checksum of the vectors
dense/vectors.npy     (n, d) float32, unit rows
dense/<back end>/     the store; missing, broken or of another back end, it is made anew from the vectors

A store on a server leaves only a record there. It is made anew in a thread, since that may take minutes; meanwhile searching it fails.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np

from rag.errors import IndexCorrupt, StoreUnavailable
from rag.index.chunk_table import ChunkTable
from rag.index.files import check_room, checksum, corrupt, sync_directory, verify
from rag.index.manifest import DensePart, read_dense_part, write_manifest
from rag.index.restoring import RestoringStore
from rag.protocols import DenseBackend, DenseStore, HybridStore, ServedBackend, SparseWeights, Vector
from rag.types import Chunk

logger = logging.getLogger(__name__)

_PROBES = 8
_CLOSE = 1e-3


def write_dense(
    directory: Path, vectors: Vector, chunks: Sequence[Chunk], backend: DenseBackend, built_at: datetime, sparse: SparseWeights
) -> None:
    """Completes a directory that holds `vectors.npy`: makes the store, reads it back, writes the manifest. `sparse`: of the same rows.

    Raises: IndexCorrupt where what was written is not what is read back; StoreUnavailable where a server is at fault.
    """
    backend.create(directory / backend.name, vectors, chunks, sparse)
    _check_store(backend, directory / backend.name, vectors)
    path = directory / "vectors.npy"
    files = {path.name: (path.stat().st_size, checksum(path))}
    write_manifest(directory / "manifest.json", DensePart(backend.name, len(vectors), vectors.shape[1], built_at, files))


def open_dense(
    directory: Path, backend: DenseBackend, chunks: ChunkTable, sparse: SparseWeights, *, up_to: int, current_of: str = ""
) -> tuple[DensePart, DenseStore, Vector]:
    """Files over `up_to` bytes are compared by size alone. `current_of`: the repository whose current generation this is.

    Raises: IndexCorrupt where the vectors are not as they were written. A server that is away is no error here.
    """
    part = read_dense_part(directory / "manifest.json")
    verify(directory, part.files, up_to=up_to)
    try:
        vectors: Vector = np.load(directory / "vectors.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise corrupt(directory / "vectors.npy", "cannot be read") from error
    if vectors.shape != (len(chunks), part.dimension) or vectors.dtype != np.float32:
        raise corrupt(directory / "vectors.npy", f"has the shape {vectors.shape}")
    store = directory / backend.name

    def made_anew() -> DenseStore:
        opened = _made_anew(directory, part, backend, chunks, vectors, sparse)
        if current_of:
            published(backend, directory, current_of)
        return opened

    if isinstance(backend, ServedBackend):
        return part, RestoringStore(lambda: _hybrid(backend.open(store)), lambda: _hybrid(made_anew())), vectors
    try:
        return part, backend.open(store), vectors
    except IndexCorrupt as error:
        logger.warning("dense store is made anew from its vectors: %s", error.problem)
    return part, made_anew(), vectors


def swept(backend: DenseBackend) -> None:
    """Deletes from a server what no generation names any more. What it cannot delete now, the next build does."""
    if isinstance(backend, ServedBackend):
        try:
            backend.sweep()
        except StoreUnavailable as error:
            logger.warning("old collections stay on the server for now: %s", error.problem)


def published(backend: DenseBackend, directory: Path, repository: str) -> None:
    """Tells a server which store is the repository's current one. Readers do not depend on it."""
    if isinstance(backend, ServedBackend):
        try:
            backend.publish(directory / backend.name, repository)
        except StoreUnavailable as error:
            logger.warning("the alias of %s stays where it was: %s", repository, error.problem)


def _hybrid(store: DenseStore) -> HybridStore:
    if not isinstance(store, HybridStore):
        raise TypeError(f"{type(store).__name__} holds no BM25 weights")
    return store


def _made_anew(
    directory: Path, part: DensePart, backend: DenseBackend, chunks: ChunkTable, vectors: Vector, sparse: SparseWeights
) -> DenseStore:
    store = directory / backend.name
    with _rebuild_lock(directory):
        try:
            return backend.open(store)  # another process was quicker
        except IndexCorrupt:
            verify(directory, part.files)
        for leftover in directory.glob(".rebuild-*"):
            shutil.rmtree(leftover)
        check_room(directory, 3 * vectors.nbytes, "Making the dense store anew")
        draft = directory / f".rebuild-{backend.name}"
        backend.create(draft, vectors, list(chunks.all()), sparse)
        _check_store(backend, draft, vectors)
        if store.exists():
            shutil.rmtree(store)
        draft.rename(store)
        sync_directory(directory)
        return backend.open(store)


def _check_store(backend: DenseBackend, directory: Path, vectors: Vector) -> None:
    """Some rows, asked for by their own vector, must come back as the best match."""
    store = backend.open(directory)
    try:
        for row in np.linspace(0, len(vectors) - 1, num=min(_PROBES, len(vectors)), dtype=int):
            best = store.search(np.asarray(vectors[row], dtype=np.float32), 1)
            if not best or abs(best[0][1] - 1) > _CLOSE:
                raise corrupt(directory, f"does not find vector {row} that was written to it")
    finally:
        store.close()


@contextmanager
def _rebuild_lock(directory: Path) -> Iterator[None]:
    handle = os.open(directory / "rebuild.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
