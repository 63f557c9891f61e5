"""The real embedding model, exported once a session, for every room: `from tests.embedding.fixtures import embedder, models_directory`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.protocols import Embedder

# A session fixture is made once for every conftest that imports it; the export is to be made once for all.
_exported: list[Path] = []


@pytest.fixture(scope="session")
def models_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the default model's int8 export (about 20 seconds, once): give it to a child process and it starts in half a second."""
    if not _exported:
        directory = tmp_path_factory.mktemp("models")
        load_embedder(EmbeddingSettings(), directory)
        _exported.append(directory)
    return _exported[0]


@pytest.fixture(scope="session")
def embedder(models_directory: Path) -> Embedder:
    """all-MiniLM-L6-v2, int8, on one thread: 384 dimensions, 256 tokens."""
    return load_embedder(EmbeddingSettings(threads=1), models_directory)
