"""Dense stores on qdrant-edge-py: Qdrant's own engine in this process, a shard a generation."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import qdrant_edge as qdrant

from rag.errors import BuildFailed, RetrievalError
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
from rag.index.files import checksums, corrupt, sync_tree, verify
from rag.protocols import DenseStore, SparseWeights, Vector
from rag.types import Chunk, Filters

# Up to here every vector is compared: at 50,000 points of 384 numbers that took 8 ms on one core, found every neighbour, and needs no
# graph, whose making took from 9 s to over two minutes. Above, HNSW with settings that put recall first: at 300,000 points a search width
# of 256 found 84 % of the ten nearest, 1,024 found 95 %, for a millisecond more (docs/growth.md).
EXACT_UP_TO = 60_000
_LINKS, _BUILD_WIDTH, _SEARCH_WIDTH = 16, 128, 1_024
_CHEAP = 256 << 20  # bytes; above, only a file's size is checked at the first open
_ALTERED_BY_LOADING = "edge_config.json"


class EdgeBackend:
    """The default. `exact_up_to`: points up to which no graph is built. `threads`: that build one, 0 for as many as the engine likes."""

    def __init__(self, exact_up_to: int = EXACT_UP_TO, threads: int = 0) -> None:
        self._exact_up_to = exact_up_to
        self._threads = threads

    @property
    def name(self) -> str:
        return "qdrant-edge"

    def create(self, directory: Path, vectors: Vector, chunks: Sequence[Chunk], sparse: SparseWeights | None = None) -> None:
        """Writes the shard, its optimised form included, and what `open` compares it with. `directory` must not exist.

        Raises: BuildFailed.
        """
        check_rows(vectors, chunks)
        shard_directory = directory / "shard"
        shard_directory.mkdir(parents=True)
        shard = qdrant.EdgeShard.create(str(shard_directory), self._configuration(vectors.shape[1]))
        try:
            _fill(shard, vectors, chunks)
        except BaseException as error:
            if not _of_engine(error):
                raise
            raise BuildFailed(
                f"Qdrant's engine could not write {shard_directory}: {error}.", "Try again; the former index keeps answering."
            ) from error
        finally:
            shard.close()
        # The first load tidies journals away; from then on only one file changes, and the rest can be compared.
        qdrant.EdgeShard.load(str(shard_directory)).close()
        write_paths(directory, chunks)
        written = {name: entry for name, entry in checksums(directory).items() if not name.endswith(_ALTERED_BY_LOADING)}
        summary = {"points": len(chunks), "dimension": vectors.shape[1], "files": written}
        (directory / "store.json").write_text(json.dumps(summary), encoding="utf-8")
        sync_tree(directory)

    def open(self, directory: Path) -> DenseStore:
        """Raises: IndexCorrupt. Files are compared first: the engine maps them, and a truncated map kills the process that reads it."""
        try:
            summary = json.loads((directory / "store.json").read_text(encoding="utf-8"))
            points, dimension = int(summary["points"]), int(summary["dimension"])
            files = {name: (int(size), str(digest)) for name, (size, digest) in summary["files"].items()}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise corrupt(directory / "store.json", "cannot be read") from error
        verify(directory, files, up_to=_CHEAP)
        paths = read_paths(directory)
        try:
            shard = qdrant.EdgeShard.load(str(directory / "shard"))
            found = shard.info().points_count
        except BaseException as error:
            if not _of_engine(error):
                raise
            raise corrupt(directory, f"cannot be opened ({error})") from error
        if found != points:
            shard.close()
            raise corrupt(directory, f"holds {found:,} vectors where {points:,} were written")
        return EdgeStore(shard, dimension, paths, scans=points <= self._exact_up_to)

    def _configuration(self, dimension: int) -> qdrant.EdgeConfig:
        kilobytes = max(1, self._exact_up_to * dimension * 4 // 1024)
        return qdrant.EdgeConfig(
            vectors=qdrant.EdgeVectorParams(size=dimension, distance=qdrant.Distance.Cosine),
            hnsw_config=qdrant.HnswIndexConfig(
                m=_LINKS, ef_construct=_BUILD_WIDTH, full_scan_threshold=kilobytes, max_indexing_threads=self._threads
            ),
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=kilobytes, default_segment_number=1),
            # A half-written store is thrown away, never repaired; flush and fsync before publishing are enough.
            wal_enabled=False,
        )


class EdgeStore:
    """An open shard. Threads may share it. `scans`: whether it has no graph."""

    def __init__(self, shard: qdrant.EdgeShard, dimension: int, paths: Sequence[str], *, scans: bool) -> None:
        self._shard = shard
        self._dimension = dimension
        self._paths = paths
        self.scans = scans
        self._closing = threading.Lock()
        self._closed = False

    def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> list[tuple[int, float]]:
        """Up to `limit` (row, cosine similarity), best first, ties by row. Raises: RetrievalError."""
        numbers = checked_query(vector, self._dimension)
        asked = conditions(filters, self._paths)
        if asked is None:
            return []
        chosen = _filter(asked) if asked else None
        # Paths have no links of their own in the graph (see _fill): a walk through it under such a filter missed every second neighbour.
        by_path = any(condition.field == "path" for condition in asked)

        def fetch(count: int) -> Iterator[tuple[int, float]]:
            parameters = qdrant.SearchParams(hnsw_ef=max(_SEARCH_WIDTH, 2 * count), exact=by_path)
            request = qdrant.QueryRequest(limit=count, query=qdrant.Query.Nearest(numbers), filter=chosen, params=parameters)
            return ((int(point.id), float(point.score)) for point in self._shard.query(request))

        try:
            return ranked(fetch, limit)
        except Exception as error:
            raise RetrievalError(
                f"The dense store failed: {error}.", "Try again; if it stays, index the repository again with --force."
            ) from error

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self._closed = True
                self._shard.close()


def _fill(shard: qdrant.EdgeShard, vectors: Vector, chunks: Sequence[Chunk]) -> None:
    for field in FIELDS:
        # A graph of its own for each of thousands of paths would cost more than the vectors' graph.
        schema = qdrant.KeywordIndexParams(enable_hnsw=False) if field == "path" else qdrant.PayloadSchemaType.Keyword
        shard.update(qdrant.UpdateOperation.create_field_index(field, schema))
    for start in range(0, len(chunks), BATCH):
        rows = range(start, min(start + BATCH, len(chunks)))
        shard.update(qdrant.UpdateOperation.upsert_points([qdrant.Point(row, vectors[row].tolist(), payload(chunks[row])) for row in rows]))
    shard.flush()
    shard.optimize()
    shard.flush()


def _filter(asked: Sequence[Condition]) -> qdrant.Filter:
    def match(condition: Condition) -> qdrant.FieldCondition:
        return qdrant.FieldCondition(condition.field, match=qdrant.MatchAny(any=list(condition.values)))

    return qdrant.Filter(
        must=[match(condition) for condition in asked if not condition.excluded],
        must_not=[match(condition) for condition in asked if condition.excluded],
    )


def _of_engine(error: BaseException) -> bool:
    """A panic of the engine is no Exception, but a fault of its files all the same."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"
