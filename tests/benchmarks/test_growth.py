from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ElementTree
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.growth.build import build
from benchmarks.growth.material import grown, vectors_beside
from benchmarks.growth.plot import plot
from benchmarks.growth.read import read
from benchmarks.growth.report import panels, table
from rag.index.chunk_table import ChunkTable
from rag.index.tokens import terms
from rag.protocols import Embedder
from rag.types import Chunk
from tests.index.fixtures import SampleIndex


@pytest.fixture
def base(sample_index: SampleIndex) -> list[Chunk]:
    with sample_index.index.open() as generation:
        return list(generation.chunks.all())


def test_grown_chunks_are_distinct_the_same_every_time_and_begin_with_the_real_ones(base: list[Chunk]) -> None:
    count = 7 * len(base) + 3
    chunks = list(grown(base, count))
    assert chunks == list(grown(base, count))
    assert chunks[: len(base)] == base
    assert len({chunk.encoded_text for chunk in chunks}) == count
    assert list(grown(base, 3)) == base[:3]
    first, varied = base, chunks[len(base) : 2 * len(base)]
    assert sum(set(terms(a.text)) != set(terms(b.text)) for a, b in zip(first, varied, strict=True)) > len(base) / 2
    assert all(a.text.count("\n") == b.text.count("\n") for a, b in zip(first, varied, strict=True))


@pytest.mark.parametrize("count", [1, 40, 41, 130])
def test_grown_vectors_are_units_beside_the_real_ones(count: int) -> None:
    rows = np.random.default_rng(0).standard_normal((40, 384)).astype(np.float32)
    real = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = np.concatenate(list(vectors_beside(real, count)))
    assert vectors.shape == (count, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(vectors[:40], real[:count])
    assert len(np.unique(vectors, axis=0)) == count
    for row in range(40, count):
        assert 0.75 < float(vectors[row] @ real[row % 40]) < 0.95


async def test_a_size_is_built_read_told_and_drawn(base: list[Chunk], embedder: Embedder, models_directory: Path, tmp_path: Path) -> None:
    ChunkTable.write(tmp_path / "base" / "chunks", base)
    np.save(tmp_path / "base" / "vectors.npy", embedder.embed_documents([chunk.encoded_text for chunk in base]))
    shutil.copytree(models_directory, tmp_path / "models", copy_function=os.link)
    sizes = []
    for count in (120, 240):
        sizes.append({**build(tmp_path, count, embed=False), **await read(tmp_path), "vectors": "few"})
        assert sizes[-1]["recall"] == sizes[-1]["recall, filtered"] == 1.0  # every vector is compared
        assert 0 < sizes[-1]["share"] < 1
    assert sizes[1]["disk"]["vectors"] > sizes[0]["disk"]["vectors"]
    lines = table(sizes).splitlines()
    assert lines[0] == "| | 120 | 240 |"
    assert {line.count("|") for line in lines} == {4}
    drawing = ElementTree.fromstring(plot(panels(sizes)))
    assert len(drawing.findall(".//{*}polyline")) == 6 + 6 + 2 + 3 + 2 + 1


def test_a_line_that_grows_is_drawn_upwards_and_names_stay_apart() -> None:
    lines = {"one p50": [(1_000.0, 1.0), (100_000.0, 10.0)], "one p99": [(1_000.0, 2.0), (100_000.0, 10.1)], "<none>": [(1_000.0, 0.0)]}
    drawing = ElementTree.fromstring(plot({"A & B": lines}))
    assert [text.text for text in drawing.iter() if text.text and "B" in text.text] == ["A & B"]
    first, second, empty = drawing.findall(".//{*}polyline")
    for line in (first, second):
        (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in line.attrib["points"].split())
        assert x1 > x0
        assert y1 < y0
    assert first.attrib["stroke"] == second.attrib["stroke"]
    assert "stroke-dasharray" in second.attrib
    assert "stroke-dasharray" not in first.attrib
    assert not empty.attrib["points"]
    names = [float(text.attrib["y"]) for text in islice((t for t in drawing.iter() if (t.text or "").startswith("one p")), 2)]
    assert abs(names[0] - names[1]) >= 12
