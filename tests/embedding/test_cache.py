from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.cache import EmbeddingCache, embed_with_cache
from rag.protocols import Embedder, Vector
from rag.types import EmbeddingSpec
from tests.embedding.fixtures import Counting

SPEC = EmbeddingSpec("m", "w" * 64, "onnx-int8", 8, 256)


def rows(count: int, seed: int = 0) -> Vector:
    return np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    cache = EmbeddingCache(tmp_path / "embeddings.sqlite")
    yield cache
    cache.close()


def test_what_was_put_comes_back_to_the_last_bit_and_in_its_place(cache: EmbeddingCache) -> None:
    texts = [f"text {number}" for number in range(1200)] + ["\ud800", ""]
    vectors = rows(len(texts))
    cache.put_many(SPEC, texts, vectors)
    asked = ["unknown", *reversed(texts), texts[3]]
    found = cache.get_many(SPEC, asked)
    assert 0 not in found
    assert len(found) == len(texts) + 1
    np.testing.assert_array_equal(np.stack([found[index] for index in range(1, len(texts) + 1)]), vectors[::-1])
    np.testing.assert_array_equal(found[len(asked) - 1], vectors[3])


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEC, weights_hash="v" * 64),
        replace(SPEC, backend="onnx-fp32"),
        replace(SPEC, window=128),
        replace(SPEC, read_tokens=100),
        replace(SPEC, document_prompt="text: "),
        replace(SPEC, dimension=9),
    ],
)
def test_other_weights_back_end_window_prompt_or_dimension_know_nothing_of_it(cache: EmbeddingCache, other: EmbeddingSpec) -> None:
    cache.put_many(SPEC, ["text"], rows(1))
    assert cache.get_many(other, ["text"]) == {}


def test_a_model_of_another_name_with_the_same_weights_shares(cache: EmbeddingCache) -> None:
    cache.put_many(SPEC, ["text"], rows(1))
    assert set(cache.get_many(replace(SPEC, model="elsewhere"), ["text"])) == {0}


def test_a_prompt_and_its_text_are_one_exact_text(cache: EmbeddingCache) -> None:
    cache.put_many(replace(SPEC, document_prompt="text: "), ["a"], rows(1))
    assert set(cache.get_many(SPEC, ["text: a"])) == {0}


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    now = 1_000_000.0
    cache = EmbeddingCache(tmp_path / "cache.sqlite", max_bytes=400_000, clock=lambda: now)
    texts = [f"text {number}" for number in range(400)]
    cache.put_many(SPEC, texts, rows(400))
    now += 7200
    kept = texts[:50]
    assert len(cache.get_many(SPEC, kept)) == 50  # a use, written down
    for batch in range(20):
        now += 7200
        cache.put_many(SPEC, [f"new {batch} {number}" for number in range(300)], rows(300, batch))
        cache.get_many(SPEC, kept)
    assert len(cache.get_many(SPEC, kept)) == 50
    assert len(cache.get_many(SPEC, texts[50:])) == 0
    cache.close()
    assert (tmp_path / "cache.sqlite").stat().st_size <= 400_000


def test_eviction_of_a_cache_that_fits_drops_nothing(cache: EmbeddingCache) -> None:
    cache.put_many(SPEC, ["text"], rows(1))
    assert cache.evict() == 0
    assert set(cache.get_many(SPEC, ["text"])) == {0}


WRITER = """
import sys
from pathlib import Path
import numpy as np
from rag.embedding.cache import EmbeddingCache
from rag.types import EmbeddingSpec
from tests.embedding.fixtures import Counting
spec = EmbeddingSpec("m", "w" * 64, "onnx-int8", 8, 256)
cache = EmbeddingCache(Path(sys.argv[1]))
for number in range(60):
    text = f"{sys.argv[2]} {number}"
    cache.put_many(spec, [text], np.full((1, 8), number, dtype=np.float32))
    assert cache.get_many(spec, [text])[0][0] == number
cache.close()
"""


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    children = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE, text=True) for name in ("one", "two")
    ]
    said = [child.communicate(timeout=60)[1] for child in children]
    assert [child.returncode for child in children] == [0, 0], said
    cache = EmbeddingCache(path)
    assert len(cache.get_many(SPEC, [f"{name} {number}" for name in ("one", "two") for number in range(60)])) == 120
    cache.close()


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database" * 100)
    cache = EmbeddingCache(path)
    cache.put_many(SPEC, ["text"], rows(1))
    assert set(cache.get_many(SPEC, ["text"])) == {0}
    cache.close()
    assert path.with_name("cache.sqlite.damaged").exists()


def test_nothing_is_embedded_twice_and_cached_vectors_are_the_fresh_ones(embedder: Embedder, cache: EmbeddingCache) -> None:
    counting = Counting(embedder)
    texts = ["def one(): ...", "def two(): ...", "def one(): ...", "longer text " * 20]
    progress: list[tuple[int, int]] = []
    first, embedded, reused = embed_with_cache(counting, cache, texts, lambda done, total: progress.append((done, total)))
    assert (embedded, reused) == (3, 1)
    assert sorted(counting.documents) == sorted(set(texts))
    assert progress[0] == (0, 4)
    assert progress[-1] == (4, 4)
    second, embedded, reused = embed_with_cache(counting, cache, [*texts, "a new one"])
    assert (embedded, reused) == (1, 4)
    assert len(counting.documents) == 4
    np.testing.assert_array_equal(second[:4], first)
    np.testing.assert_array_equal(first, embedder.embed_documents(texts))
    none, embedded, reused = embed_with_cache(counting, cache, [])
    assert (none.shape, embedded, reused) == ((0, 384), 0, 0)


def test_a_cache_that_fails_costs_a_warning_and_no_build(embedder: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    with sqlite3.connect(tmp_path / "cache.sqlite") as db:
        db.execute("DROP TABLE vectors")
    vectors, embedded, _ = embed_with_cache(embedder, cache, ["text"])
    assert embedded == 1
    np.testing.assert_array_equal(vectors, embedder.embed_documents(["text"]))
    assert "cannot be read" in caplog.text
    assert "cannot be written" in caplog.text
    cache.close()


def test_no_cache_at_all(embedder: Embedder) -> None:
    assert embed_with_cache(embedder, None, ["a", "a"])[1:] == (1, 1)
