"""The edge engine where it builds a graph, which in use takes more points than a test should have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rag.index.dense_edge import EdgeBackend
from rag.protocols import DenseStore, Vector
from rag.types import Chunk, Filters, Kind

COUNT = 6_000
FEW = Filters(path=("odd/**",))  # two fifths, in hundreds of paths


@pytest.fixture(scope="module")
def vectors() -> Vector:
    rows = np.random.default_rng(3).standard_normal((COUNT, 48)).astype(np.float32)
    unit: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@pytest.fixture(scope="module", params=[0, 1])
def store(request: pytest.FixtureRequest, vectors: Vector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenseStore]:
    chunks = [
        Chunk(f"{'odd' if n % 5 < 2 else 'even'}/m{n // 10}.py", 1, 2, Kind.FUNCTION if n % 2 else Kind.CLASS, "python", "x")
        for n in range(COUNT)
    ]
    backend = EdgeBackend(exact_up_to=1_000, threads=request.param)
    directory = tmp_path_factory.mktemp("graph") / "store"
    backend.create(directory, vectors, chunks)
    opened = backend.open(directory)
    yield opened
    opened.close()


def nearest(vectors: Vector, question: Vector, rows: np.ndarray) -> set[int]:
    return set(rows[np.argsort(-(vectors[rows] @ question), kind="stable")[:10]].tolist())


def recall(store: DenseStore, vectors: Vector, rows: np.ndarray, filters: Filters | None) -> float:
    questions = vectors[::150] + 0.05
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    found = [{row for row, _ in store.search(question, 10, filters)} for question in questions]
    return float(np.mean([len(nearest(vectors, question, rows) & rows_) / 10 for question, rows_ in zip(questions, found, strict=True)]))


def test_nearly_all_neighbours_are_found(store: DenseStore, vectors: Vector) -> None:
    assert recall(store, vectors, np.arange(COUNT), None) > 0.95


def test_under_a_filter_with_paths_all_are(store: DenseStore, vectors: Vector) -> None:
    rows = np.array([n for n in range(COUNT) if n % 5 < 2])
    assert recall(store, vectors, rows, FEW) == 1.0
    both = Filters(path=FEW.path, kind=("class",))
    assert recall(store, vectors, rows[rows % 2 == 0], both) == 1.0
