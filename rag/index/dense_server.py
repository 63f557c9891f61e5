"""Dense stores on a Qdrant server or cluster: a collection a generation, with the BM25 weights beside the vectors.

A generation's directory holds `store.json`, which names its collection, and its paths. The record is durable before the collection is
made, so every collection of this installation is named by a directory or is a leftover; `sweep` tells them apart. Readers ask the
collection that their own generation names, never the alias: rows of two generations cannot mix.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from qdrant_client import QdrantClient, models

from rag.errors import CollectionGone, StoreUnavailable
from rag.index.collection import DENSE, INDEXED, SPARSE, batches, collection_body, row_of, sparse_query
from rag.index.dense_points import check_rows, read_paths, write_paths
from rag.index.files import corrupt, sync_tree, write_durably
from rag.index.installation import installation_id
from rag.index.server import Server
from rag.index.server_store import ServerStore, batch_request
from rag.protocols import SparseWeights, Vector
from rag.types import Chunk

logger = logging.getLogger(__name__)

_PROBES = 8
_CLOSE = 1e-3
_FINISHED = frozenset({models.CollectionStatus.GREEN, models.CollectionStatus.GREY})


@dataclass(frozen=True, slots=True)
class Record:
    """`store.json`."""

    collection: str
    points: int
    dimension: int


class ServerBackend:
    """`data_dir`: whose repositories' directories name collections."""

    def __init__(self, server: Server, data_dir: Path) -> None:
        self._server = server
        self._data_dir = data_dir

    @property
    def name(self) -> str:
        return "qdrant-server"

    @property
    def prefix(self) -> str:
        """What the names of this installation's collections begin with."""
        return f"footnote-{installation_id(self._data_dir)}-"

    def create(self, directory: Path, vectors: Vector, chunks: Sequence[Chunk], sparse: SparseWeights | None = None) -> None:
        """`directory` must not exist. Returns when the server holds every point and has built its graph, or takes too long over that.

        Raises: StoreUnavailable; IndexCorrupt where what was written is not what is found.
        """
        check_rows(vectors, chunks)
        directory.mkdir(parents=True)
        name = f"{self.prefix}{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(6)}"
        record = Record(name, len(chunks), vectors.shape[1])
        write_durably(directory / "store.json", json.dumps(asdict(record)).encode())
        write_paths(directory, chunks)
        sync_tree(directory)
        try:
            self._fill(record, vectors, chunks, sparse, directory)
        except BaseException:
            try:
                self.discard(directory)
            except StoreUnavailable as error:
                logger.warning("a half-filled collection stays on the server until the next build: %s", error.problem)
            raise

    def open(self, directory: Path) -> ServerStore:
        """Raises: IndexCorrupt where the directory or the collection is not what was written; StoreUnavailable."""
        record, paths = _read(directory), read_paths(directory)
        try:
            info = self._server.search(lambda client: client.get_collection(record.collection))
            held = self._server.search(lambda client: client.count(record.collection, exact=True)).count
        except CollectionGone as error:
            raise corrupt(directory, f"names the collection {record.collection}, which the server does not have") from error
        made = info.config.params.vectors
        size = made[DENSE].size if isinstance(made, dict) and DENSE in made else 0
        if size != record.dimension or SPARSE not in (info.config.params.sparse_vectors or {}):
            raise corrupt(directory, f"names a collection of vectors of {size} numbers where {record.dimension} were written")
        if held != record.points:
            raise corrupt(directory, f"names a collection of {held:,} points where {record.points:,} were written")
        return ServerStore(self._server, record.collection, record.dimension, paths)

    def check(self) -> str:
        """The server's version. Also lists the collections, since the version is told without a key. Raises: StoreUnavailable."""
        version = self._server.search(lambda client: client.info()).version
        self._server.search(lambda client: client.get_collections())
        return version

    def publish(self, directory: Path, repository: str) -> None:
        """Points the repository's alias to the collection, in one request: there is no moment without it. Raises: StoreUnavailable."""
        collection = _read(directory).collection
        alias = f"{self.prefix.rstrip('-')}.{re.sub(r'[^A-Za-z0-9._-]', '_', repository)}"
        known = self._server.change(lambda client: client.get_aliases()).aliases
        steps: list[models.AliasOperations] = []
        for one in known:
            if one.alias_name == alias and one.collection_name == collection:
                return
            if one.alias_name == alias:
                steps.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
        target = models.CreateAlias(collection_name=collection, alias_name=alias)
        steps.append(models.CreateAliasOperation(create_alias=target))
        self._server.change(lambda client: client.update_collection_aliases(change_aliases_operations=steps))

    def sweep(self) -> list[str]:
        """Deletes the collections of this installation that no directory names, whatever builds meanwhile. Returns their names.

        Raises: StoreUnavailable.
        """
        prefix = self.prefix
        there = self._server.change(lambda client: client.get_collections()).collections
        # Only now: a record is older than its collection. Twice: a directory that is renamed between is in one of both.
        named = self._named() | self._named()
        gone = sorted(one.name for one in there if one.name.startswith(prefix) and one.name not in named)
        for name in gone:
            self.delete(name)
        if gone:
            logger.info("deleted %d collections that no generation names from the Qdrant server", len(gone))
        return gone

    def discard(self, directory: Path) -> None:
        """Deletes the collection that `directory` names. Raises: StoreUnavailable."""
        self.delete(_read(directory).collection)

    def delete(self, name: str) -> None:
        """A collection, with its aliases; none of that name is none to delete. Raises: StoreUnavailable."""
        with suppress(CollectionGone):
            self._server.change(lambda client: client.delete_collection(name))

    def _named(self) -> set[str]:
        """Every collection that a generation names: published, being written, being made anew, or still pinned in the trash."""
        named = set()
        for path in self._data_dir.glob(f"repositories/*/generations/*/*/*{self.name}/store.json"):
            try:
                named.add(str(json.loads(path.read_bytes())["collection"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # deleted meanwhile, or damaged: nobody can open it
        return named

    def _fill(self, record: Record, vectors: Vector, chunks: Sequence[Chunk], sparse: SparseWeights | None, directory: Path) -> None:
        name, change = record.collection, self._server.change
        change(lambda client: _make_collection(client, name, record.dimension, self._server))
        for field, schema in INDEXED.items():
            change(_index_request(name, field, schema))
        weights = None if sparse is None else sparse.by_row()
        for points in batches(vectors, chunks, weights):
            change(_upsert_request(name, points))
        self._settle(name)
        for row in np.linspace(0, len(chunks) - 1, num=min(_PROBES, len(chunks)), dtype=int) if weights is not None else ():
            columns, values = row_of(weights, int(row))
            if columns:
                only = models.Filter(must=[models.HasIdCondition(has_id=[int(row)])])
                request = sparse_query(dict.fromkeys(columns, 1), 1, only)
                held = change(batch_request(name, [request]))[0].points
                score, due = (held[0].score if held else 0.0), sum(values)
                if abs(score - due) > _CLOSE * max(1.0, abs(due)):
                    raise corrupt(directory, f"names a collection that weighs the words of chunk {row} {score:g} where {due:g} was written")

    def _settle(self, name: str) -> None:
        """Waits until the server has built what it searches by. Until then it compares every vector: slower, and no less right."""
        end = time.monotonic() + self._server.settings.settle_timeout
        pause = 0.05
        while True:
            status = self._server.change(lambda client: client.get_collection(name)).status
            if status in _FINISHED:
                return
            if status is models.CollectionStatus.RED:
                raise StoreUnavailable(
                    f"The Qdrant server at {self._server.settings.url} could not build its index (status red).",
                    "Look into the server's log, its memory and its disk; then index again.",
                )
            if time.monotonic() > end:
                logger.warning("the Qdrant server still builds the graph of %s; until it is done it searches slower", name)
                return
            time.sleep(pause)
            pause = min(2 * pause, 2.0)


def _make_collection(client: QdrantClient, name: str, dimension: int, server: Server) -> None:
    """A repeated attempt may meet what the first one made."""
    if not client.collection_exists(name):
        client.create_collection(name, **collection_body(dimension, server.settings))


def _index_request(name: str, field: str, schema: object) -> Callable[[QdrantClient], object]:
    return lambda client: client.create_payload_index(name, field, field_schema=schema, wait=True)  # type: ignore[arg-type]


def _upsert_request(name: str, points: Sequence[models.PointStruct]) -> Callable[[QdrantClient], object]:
    return lambda client: client.upsert(name, points, wait=True)


def _read(directory: Path) -> Record:
    """Raises: IndexCorrupt."""
    try:
        values = json.loads((directory / "store.json").read_bytes())
        return Record(str(values["collection"]), int(values["points"]), int(values["dimension"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise corrupt(directory / "store.json", "cannot be read") from error
