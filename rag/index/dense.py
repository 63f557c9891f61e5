"""Which dense store is used: a server where one is given, else what this platform has."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from rag.index.server_settings import ServerSettings
from rag.protocols import DenseBackend


def default_backend(threads: int = 0) -> DenseBackend:
    """Qdrant's engine in the process where its wheel exists, else qdrant-client's local mode. Imports only the one it chooses.

    `threads`: that make a store, 0 for as many as the engine likes.
    """
    if find_spec("qdrant_edge") is not None:
        from rag.index.dense_edge import EdgeBackend

        return EdgeBackend(threads=threads)
    from rag.index.dense_client import ClientBackend

    return ClientBackend()


def chosen_backend(server: ServerSettings | None, data_dir: Path, threads: int = 0) -> DenseBackend:
    """The server's for the indexes under `data_dir`, or where there is none the default. Asks nothing of the server yet."""
    if server is None:
        return default_backend(threads)
    from rag.index.dense_server import ServerBackend
    from rag.index.server import Server

    return ServerBackend(Server(server), data_dir)
