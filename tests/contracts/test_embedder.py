"""What every `Embedder` promises, whatever runs the model: random small ones, made on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.embedding.models import BACKENDS, EmbeddingSettings, describe, load_embedder
from rag.protocols import Embedder
from tests.embedding.tiny_models import save_tiny_model, save_tiny_static_model

TEXTS = [
    "def open_file(path):\n    return read(path)",
    "How does the cache evict the oldest value?",
    "",
    " \n\t",
    "\0",
    "a\0b",
    "🚀👩‍👩‍👧 naïve 数据库",
    "\ue000\ue001",  # no tokenizer knows these
    "\ud800 lone surrogate",
    "loadHTTPResponse _private__name x" * 3_000,  # 100 kB
]


@pytest.fixture(scope="module", params=[*BACKENDS, "a published static model"])
def load(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Embedder]:
    directory = tmp_path_factory.mktemp("embedder")
    static = request.param not in BACKENDS
    model = save_tiny_static_model(directory / "model") if static else save_tiny_model(directory / "model")
    chosen = EmbeddingSettings(model=str(model), backend="onnx-int8" if static else request.param, threads=1)
    return lambda: load_embedder(chosen, directory / "models")


@pytest.fixture(scope="module")
def embedder(load: Callable[[], Embedder]) -> Embedder:
    return load()


def test_rows_are_unit_length_finite_and_of_the_promised_shape(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.spec.dimension)
    assert vectors.dtype == np.dtype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text in TEXTS:
        query = embedder.embed_query(text)
        assert query.shape == (embedder.spec.dimension,)
        assert query.dtype == np.dtype(np.float32)
        assert abs(float(np.linalg.norm(query)) - 1) < 1e-5


def test_no_text_gives_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.spec.dimension)


def test_rows_come_in_the_order_given_whatever_stands_beside_them(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(embedder.embed_documents(TEXTS[::-1])[::-1], together, atol=1e-5)
    np.testing.assert_allclose(alone, together, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_any_text_has_a_vector_of_its_own(embedder: Embedder, texts: list[str]) -> None:
    vectors = embedder.embed_documents(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(embedder.embed_documents(texts), vectors, atol=1e-6)


def test_a_second_load_gives_the_same_vectors(load: Callable[[], Embedder], embedder: Embedder) -> None:
    again = load()
    assert again.spec == embedder.spec
    np.testing.assert_allclose(again.embed_documents(TEXTS[:3]), embedder.embed_documents(TEXTS[:3]), atol=1e-6)


def test_different_texts_are_told_apart(embedder: Embedder) -> None:
    first, second = embedder.embed_documents(["open the file and read lines", "the cache evicts the oldest value"])
    assert float(first @ second) < 0.999
    same = embedder.embed_query("open the file and read lines")  # of random weights nothing more can be asked
    assert float(same @ first) > 0.99
    assert same @ first > same @ second


def test_back_ends_of_one_model_never_share_a_spec(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    specs = [describe(EmbeddingSettings(model=str(model), backend=backend)) for backend in BACKENDS]
    assert [spec.backend for spec in specs] == list(BACKENDS)
    assert len({(spec.weights_hash, spec.backend, spec.reads) for spec in specs}) == len(BACKENDS)
