"""Qdrant servers for tests: qdrant-client's local mode with the code for servers, and a real one where QDRANT_URL names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from qdrant_client import QdrantClient

from rag.index.dense_server import ServerBackend
from rag.index.server import Server, connect_server
from rag.index.server_settings import ServerSettings, checked_url
from rag.index.server_store import Found
from rag.protocols import HybridStore, Vector
from rag.types import Filters
from tests import real_server


def local_server(settings: ServerSettings | None = None) -> tuple[Server, QdrantClient]:
    """A server in memory, and the client that it is asked by."""
    client = QdrantClient(":memory:")
    return Server(settings or ServerSettings("http://localhost:6333"), connect=lambda _settings, _timeout: client), client


def local_backend(data_dir: Path) -> ServerBackend:
    return ServerBackend(local_server()[0], data_dir)


@contextmanager
def real_backend(data_dir: Path) -> Iterator[ServerBackend]:
    """On the server of QDRANT_URL; what was made there under this data directory's prefix is deleted at the end."""
    settings = ServerSettings(checked_url(real_server.URL), real_server.API_KEY)
    server = Server(settings, connect=connect_server)
    backend = ServerBackend(server, data_dir)
    try:
        yield backend
    finally:
        for collection in server.change(lambda client: client.get_collections()).collections:
            if collection.name.startswith(backend.prefix):
                backend.delete(collection.name)
        server.close()


def both(store: HybridStore, vector: Vector, counts: Mapping[int, int], limit: int, filters: Filters | None = None) -> tuple[Found, Found]:
    """(row, BM25) of one query by words and (row, cosine similarity), of one request."""
    words, dense = store.search_all(vector, [counts], limit, filters)
    return words[0], dense
