from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.protocols import Embedder

TEXTS = [
    "def add(a, b):\n    return a + b",
    "Where is the session cookie signed?",
    "",
    "x" * 5000,
    "naïve 数据库 🚀",
    "\ud800 lone surrogate",
]


def test_vectors_are_unit_rows_in_the_order_given(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_array_equal(embedder.embed_documents([text])[0], vector)


def test_no_text_gives_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)


def test_a_question_is_near_the_code_that_answers_it(embedder: Embedder) -> None:
    chunks = embedder.embed_documents(["def read_lines(path):\n    return open(path).readlines()", "def add(a, b):\n    return a + b"])
    near, far = chunks @ embedder.embed_query("How do I read a file line by line?")
    assert near > far + 0.2


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=120), min_size=1, max_size=5))
def test_a_vector_depends_on_its_text_alone(embedder: Embedder, texts: list[str]) -> None:
    together = embedder.embed_documents([*texts, "a neighbour\n" * 50])
    alone = np.stack([embedder.embed_documents([text])[0] for text in texts])
    np.testing.assert_array_equal(together[:-1], alone)


CHILD = """
import json, sys
from pathlib import Path
from rag.embedding.models import EmbeddingSettings, describe, load_embedder
settings = EmbeddingSettings(threads=2)
spec = describe(settings)
embedder = load_embedder(settings, Path(sys.argv[1]))
vectors = embedder.embed_documents(["one", "two words", "three short words"])
heavy = [name for name in ("torch", "transformers", "sentence_transformers", "onnx", "huggingface_hub") if name in sys.modules]
print(json.dumps({"heavy": heavy, "same": spec == embedder.spec, "vectors": vectors.tolist()}))
"""


def test_a_later_load_imports_no_torch_and_threads_change_no_bit(models_directory: Path, embedder: Embedder) -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(models_directory)], capture_output=True, text=True, timeout=60, check=True, cwd=Path.cwd()
    )
    said = json.loads(child.stdout)
    assert said["heavy"] == []
    assert said["same"]
    np.testing.assert_array_equal(
        np.asarray(said["vectors"], dtype=np.float32), embedder.embed_documents(["one", "two words", "three short words"])
    )
