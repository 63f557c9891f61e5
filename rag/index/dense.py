"""Which dense store this platform uses."""

from __future__ import annotations

from importlib.util import find_spec

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
