"""Repositories indexed and searched by other models than the packaged one: made on the spot, named by their path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.models import EmbeddingSettings, describe, load_embedder
from rag.errors import RetrievalError
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildJob
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository
from tests.embedding.tiny_models import save_tiny_model, save_tiny_static_model
from tests.index.fixtures import make_repository

LARDER = Repository("larder", "")
PROMPTS = {"query": "ask: ", "document": "text: "}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EmbeddingSettings]:
    home = tmp_path_factory.mktemp("models")
    bert = save_tiny_model(home / "bert", window=64, prompts=PROMPTS)
    unexportable = save_tiny_model(home / "dense", window=64, dense=16, prompts=PROMPTS)
    published = save_tiny_static_model(home / "published")
    return {
        "exported": EmbeddingSettings(model=str(bert), backend="onnx-fp32"),
        "distilled": EmbeddingSettings(model=str(bert), backend="static"),
        "as it is": EmbeddingSettings(model=str(unexportable)),
        "published static": EmbeddingSettings(model=str(published)),
    }


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all tests of this module keep exported models: one export of each costs a process with torch."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture
def data(tmp_path: Path, exports: Path) -> Path:
    """A data directory with nothing in it but the module's exports."""
    directory = tmp_path / "data"
    directory.mkdir()
    (directory / "models").symlink_to(exports, target_is_directory=True)
    return directory


@pytest.mark.parametrize("which", ["exported", "distilled", "as it is", "published static"])
async def test_a_repository_is_indexed_and_searched_by_it(
    models: dict[str, EmbeddingSettings], which: str, tmp_path: Path, data: Path
) -> None:
    settings = models[which]
    source = make_repository(tmp_path / "source")
    job = BuildJob(replace(LARDER, source=str(source)), data, settings, threads=1)
    report = build(job, lambda event: None)
    spec = describe(settings)
    directory = repository_directory(data, "larder")
    with RepositoryIndex(directory, EdgeBackend(), spec).open() as generation:
        assert generation.manifest.embedding == spec
        assert generation.vectors is not None
        assert generation.vectors.shape == (report.chunks, spec.dimension)
        chunks = list(generation.chunks.all())
        embedder = load_embedder(settings, data / "models")
        fresh = embedder.embed_documents([chunk.encoded_text for chunk in chunks])
        np.testing.assert_allclose(generation.vectors, fresh, atol=1e-5)
        retriever = Retriever(embedder, RetrievalSettings())
        ranked = await retriever.retrieve("which locker is free?", generation, LARDER)
        assert ranked.results[0].chunk.path == "larder/lockers.py"
        assert ranked.confidence is not None
        assert 0 <= ranked.confidence <= 1
        dense = await retriever.retrieve(chunks[0].encoded_text, generation, LARDER, stage="dense", limit=3)
        assert len(dense.results) == 3
        assert build(job, lambda event: None).unchanged


async def test_vectors_of_one_back_end_are_never_searched_by_another(
    models: dict[str, EmbeddingSettings], tmp_path: Path, data: Path
) -> None:
    source = make_repository(tmp_path / "source")
    build(BuildJob(replace(LARDER, source=str(source)), data, models["exported"], threads=1), lambda event: None)
    directory = repository_directory(data, "larder")
    with RepositoryIndex(directory, EdgeBackend(), describe(models["distilled"])).open() as generation:
        assert generation.dense is None
        assert "static" in generation.mismatch
        retriever = Retriever(load_embedder(models["distilled"], data / "models"), RetrievalSettings())
        assert (await retriever.retrieve("which locker is free?", generation, LARDER)).results
        with pytest.raises(RetrievalError, match="cannot be searched by meaning"):
            await retriever.retrieve("which locker is free?", generation, LARDER, stage="dense")
