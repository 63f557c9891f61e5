"""Dense stores on qdrant-client's local mode, a directory a generation: what a platform without an edge wheel falls back to.

Vectors alone: in local mode the BM25 weights would be compared one by one in Python, where the sparse part takes milliseconds.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from rag.errors import DataDirectoryLocked, RetrievalError
from rag.index.dense_points import (
    BATCH,
    FIELDS,
    Condition,
    check_rows,
    checked_query,
    conditions,
    payload,
    ranked,
    read_paths,
    write_paths,
)
from rag.index.files import corrupt, sync_tree
from rag.protocols import DenseStore, SparseWeights, Vector
from rag.types import Chunk, Filters

_COLLECTION = "chunks"
Connect = Callable[[Path], QdrantClient]


def connect_locally(directory: Path) -> QdrantClient:
    """qdrant-client's own store in `directory`. One opener at a time, any thread of it: the store below keeps a lock."""
    return QdrantClient(path=str(directory / "client"), force_disable_check_same_thread=True)


class ClientBackend:
    """`connect` makes the client for a generation's directory."""

    def __init__(self, connect: Connect = connect_locally) -> None:
        self._connect = connect

    @property
    def name(self) -> str:
        return "qdrant-client-local"

    def create(self, directory: Path, vectors: Vector, chunks: Sequence[Chunk], sparse: SparseWeights | None = None) -> None:
        """`directory` must not exist. Raises: OSError or sqlite3.Error where the disk is full."""
        check_rows(vectors, chunks)
        directory.mkdir(parents=True)
        client = self._connect(directory)
        try:
            client.create_collection(
                _COLLECTION, vectors_config=models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
            )
            with warnings.catch_warnings():
                # Local mode says that it has no payload indexes; it scans, and filters the same.
                warnings.simplefilter("ignore")
                for field in FIELDS:
                    client.create_payload_index(_COLLECTION, field, field_schema=models.PayloadSchemaType.KEYWORD)
            for start in range(0, len(chunks), BATCH):
                rows = range(start, min(start + BATCH, len(chunks)))
                points = [models.PointStruct(id=row, vector=vectors[row].tolist(), payload=payload(chunks[row])) for row in rows]
                client.upsert(_COLLECTION, points, wait=True)
        finally:
            client.close()
        (directory / "points").write_text(str(len(chunks)), encoding="ascii")
        write_paths(directory, chunks)
        sync_tree(directory)

    def open(self, directory: Path) -> DenseStore:
        """Raises: IndexCorrupt; DataDirectoryLocked while another process has it open."""
        paths = read_paths(directory)
        if not (directory / "client" / "meta.json").is_file():
            raise corrupt(directory, "is not complete")
        client: QdrantClient | None = None
        try:
            client = self._connect(directory)
            parameters = client.get_collection(_COLLECTION).config.params.vectors
            written, found = int((directory / "points").read_text(encoding="ascii")), client.count(_COLLECTION).count
            if not isinstance(parameters, models.VectorParams) or found != written:
                raise ValueError(f"it holds {found} vectors where {written} were written")
        except Exception as error:
            if client is not None:
                client.close()
            if isinstance(error, RuntimeError) and "already accessed" in str(error):
                raise DataDirectoryLocked(
                    f"The dense store {directory} is open in another process.", "Stop that process, or ask through it."
                ) from error
            raise corrupt(directory, f"cannot be opened ({error})") from error
        return ClientStore(client, parameters.size, paths)


class ClientStore:
    """An open collection. Threads may share it; local mode answers them one by one, and looks at every vector."""

    scans = True

    def __init__(self, client: QdrantClient, dimension: int, paths: Sequence[str]) -> None:
        self._client = client
        self._dimension = dimension
        self._paths = paths
        self._lock = threading.Lock()
        self._closed = False

    def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> list[tuple[int, float]]:
        """Up to `limit` (row, cosine similarity), best first, ties by row. Raises: RetrievalError."""
        numbers = checked_query(vector, self._dimension)
        asked = conditions(filters, self._paths)
        if asked is None:
            return []
        chosen = _filter(asked) if asked else None

        def fetch(count: int) -> Iterator[tuple[int, float]]:
            with self._lock:
                if self._closed:
                    raise RetrievalError("The dense store was closed.", "Try again.")
                response = self._client.query_points(_COLLECTION, query=numbers, limit=count, query_filter=chosen, with_payload=False)
            return ((int(point.id), float(point.score)) for point in response.points)

        try:
            return ranked(fetch, limit)
        except RetrievalError:
            raise
        except Exception as error:
            raise RetrievalError(
                f"The dense store failed: {error}.", "Try again; if it stays, index the repository again with --force."
            ) from error

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._client.close()


def _filter(asked: Sequence[Condition]) -> models.Filter:
    def match(condition: Condition) -> Any:
        return models.FieldCondition(key=condition.field, match=models.MatchAny(any=list(condition.values)))

    return models.Filter(
        must=[match(condition) for condition in asked if not condition.excluded],
        must_not=[match(condition) for condition in asked if condition.excluded],
    )
