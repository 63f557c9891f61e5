from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.lazy import LazyEmbedder
from rag.embedding.models import EmbeddingSettings
from rag.errors import UnknownModel
from rag.protocols import Embedder


def test_it_knows_its_spec_before_anything_is_exported(embedder: Embedder, tmp_path: Path) -> None:
    assert LazyEmbedder(EmbeddingSettings(), tmp_path).spec == embedder.spec
    assert list(tmp_path.iterdir()) == []


def test_many_threads_load_it_once_and_get_the_same_vectors(embedder: Embedder, models_directory: Path) -> None:
    lazy = LazyEmbedder(EmbeddingSettings(threads=1), models_directory)
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: lazy.load(), range(8)))
    assert len({id(one) for one in loaded}) == 1
    np.testing.assert_array_equal(lazy.embed_query("one"), embedder.embed_query("one"))
    np.testing.assert_array_equal(lazy.embed_documents(["two"]), embedder.embed_documents(["two"]))


def test_an_unknown_model_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="no-such-model"):
        LazyEmbedder(EmbeddingSettings(model="no-such-model", download=False), tmp_path)
