from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag.index.generation import Generation
from rag.protocols import Embedder
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from tests.index.fixtures import SampleIndex


@pytest.fixture
def generation(sample_index: SampleIndex) -> Iterator[Generation]:
    with sample_index.index.open() as generation:
        yield generation


@pytest.fixture
def retriever(embedder: Embedder) -> Retriever:
    return Retriever(embedder, RetrievalSettings())
