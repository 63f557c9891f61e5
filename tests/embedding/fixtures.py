"""The real embedding model, exported once a session, for every room: `from tests.embedding.fixtures import embedder, models_directory`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.protocols import Embedder, Vector
from rag.types import EmbeddingSpec


@pytest.fixture(scope="session")
def models_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the default model's int8 export (about 20 seconds, once): give it to a child process and it starts in half a second.

    One for all of pytest-xdist's workers: whoever comes first exports, the others wait at the export's own lock.
    """
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "models"
    load_embedder(EmbeddingSettings(), directory)
    return directory


@pytest.fixture(scope="session")
def embedder(models_directory: Path) -> Embedder:
    """all-MiniLM-L6-v2, int8, on one thread: 384 dimensions, 256 tokens."""
    return load_embedder(EmbeddingSettings(threads=1), models_directory)


class Counting:
    """The real embedder, noting what it was asked: `documents` and `questions`, in order."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.documents: list[str] = []
        self.questions: list[str] = []

    @property
    def spec(self) -> EmbeddingSpec:
        return self.embedder.spec

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        self.documents += texts
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        self.questions.append(text)
        return self.embedder.embed_query(text)
