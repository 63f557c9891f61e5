from __future__ import annotations

import numpy as np
import pytest

from rag.protocols import Embedder
from rag.retrieval.query_vectors import QueryVectors
from tests.embedding.fixtures import Counting


def test_a_question_is_embedded_once_and_the_oldest_is_forgotten(embedder: Embedder) -> None:
    counting = Counting(embedder)
    vectors = QueryVectors(counting, size=2)
    first = vectors.of("one")
    np.testing.assert_array_equal(first, embedder.embed_query("one"))
    assert vectors.of("one") is first
    vectors.of("two")
    vectors.of("one")
    vectors.of("three")  # forgets "two", which was not asked for longest
    vectors.of("one")
    assert counting.questions == ["one", "two", "three"]
    vectors.of("two")
    assert counting.questions == ["one", "two", "three", "two"]


def test_a_shared_vector_cannot_be_changed(embedder: Embedder) -> None:
    vector = QueryVectors(embedder).of("one")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_the_mean_of_several_texts_embeds_each_of_them_once(embedder: Embedder) -> None:
    counting = Counting(embedder)
    vectors = QueryVectors(counting)
    mean = vectors.of("one", "two", "one")
    assert counting.questions == ["one", "two"]
    assert mean.dtype == np.float32
    assert np.linalg.norm(mean) == pytest.approx(1.0, abs=1e-6)
    expected = 2 * embedder.embed_query("one") + embedder.embed_query("two")
    np.testing.assert_allclose(mean, expected / np.linalg.norm(expected), atol=1e-6)
    vectors.of("two")
    assert counting.questions == ["one", "two"]
