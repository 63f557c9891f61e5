"""What every dense store promises, run on every back end. "qdrant-server" is the server's code on qdrant-client's local mode; where
QDRANT_URL is set it runs on that server too, under a prefix of its own, and deletes what it made."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from rag.errors import IndexCorrupt, RetrievalError
from rag.index.chunk_table import ChunkTable
from rag.index.cosines import cosines_of, nearest
from rag.index.dense_client import ClientBackend
from rag.index.dense_edge import EdgeBackend
from rag.protocols import DenseBackend, DenseStore, ScanningStore, Vector
from rag.types import Chunk, Filters, Kind
from tests.index.servers import local_backend, real_backend

DIMENSION = 16
LANGUAGES = ("python", "go", "markdown")
KINDS = (Kind.FUNCTION, Kind.CLASS, Kind.SECTION)
STRANGE = "docs/naïve \udce9 [x].md"


def chunk_of(row: int) -> Chunk:
    directory = ("src/auth", "src/net", "docs")[row % 3]
    path = STRANGE if row == 5 else f"{directory}/file{row // 3}.{('py', 'go', 'md')[row % 3]}"
    return Chunk(path, row + 1, row + 1, KINDS[row % 3], LANGUAGES[row % 3], f"line {row}")


def said(filters: Filters) -> str:
    """The same in every process, as a set of paths is not."""
    return str(filters if filters.files is None else replace(filters, files=None)) + f" in {len(filters.files or ())} files"


def unit_rows(count: int, seed: int = 7) -> Vector:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    scaled: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def by_hand(vectors: Vector, query: Vector, limit: int, rows: list[int] | None = None) -> list[int]:
    scores = vectors @ query
    chosen = range(len(vectors)) if rows is None else rows
    return sorted(chosen, key=lambda row: (-scores[row], row))[:limit]


REAL = pytest.param("real server", marks=pytest.mark.qdrant_server)


@pytest.fixture(params=["qdrant-edge", "qdrant-client-local", "qdrant-server", REAL])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DenseBackend]:
    if request.param == "qdrant-edge":
        yield EdgeBackend()
    elif request.param == "qdrant-client-local":
        yield ClientBackend()
    elif request.param == "qdrant-server":
        yield local_backend(tmp_path)
    else:
        with real_backend(tmp_path) as made:
            yield made


VECTORS = unit_rows(90)
CHUNKS = [chunk_of(row) for row in range(90)]
# As the history chooses them: without regard to folder or ending.
OWN = frozenset({STRANGE, "src/auth/file0.py", "src/auth/file17.py", "src/net/file3.go", "docs/file9.md"})
ALL = frozenset(chunk.path for chunk in CHUNKS)
MOST = ALL - OWN


@pytest.fixture
def directory(backend: DenseBackend, tmp_path: Path) -> Path:
    backend.create(tmp_path / "store", VECTORS, CHUNKS)
    return tmp_path / "store"


@pytest.fixture
def store(backend: DenseBackend, directory: Path) -> Iterator[DenseStore]:
    opened = backend.open(directory)
    yield opened
    opened.close()


def test_ranks_by_cosine_similarity(store: DenseStore) -> None:
    query = unit_rows(1, seed=1)[0]
    found = store.search(query, 10)
    assert [row for row, _ in found] == by_hand(VECTORS, query, 10)
    np.testing.assert_allclose([score for _, score in found], [VECTORS[row] @ query for row, _ in found], atol=1e-5)


def test_limits(store: DenseStore) -> None:
    query = VECTORS[0]
    assert store.search(query, 0) == []
    assert len(store.search(query, 1)) == 1
    assert sorted(row for row, _ in store.search(query, 1_000)) == list(range(90))


@pytest.mark.parametrize(
    ("filters", "keep"),
    [
        (Filters(language=("go",)), lambda chunk: chunk.language == "go"),
        (Filters(language=("go", "markdown")), lambda chunk: chunk.language != "python"),
        (Filters(kind=("section",)), lambda chunk: chunk.kind == "section"),
        (Filters(path=("src/auth/*",)), lambda chunk: chunk.path.startswith("src/auth/")),
        (Filters(path=("src",)), lambda chunk: chunk.path.startswith("src/")),
        (Filters(path=("*.md", "file1.py")), lambda chunk: chunk.path.endswith(".md") or chunk.path.endswith("/file1.py")),
        (Filters(path=("**/naïve*",)), lambda chunk: chunk.path == STRANGE),
        (Filters(path=("src",), language=("go",), kind=("class",)), lambda chunk: chunk.path.startswith("src/net")),
        (Filters(path=("**",)), lambda chunk: True),
        (Filters(files=OWN, author=("ana",), since=date(2024, 1, 1)), lambda chunk: chunk.path in OWN),
        (Filters(files=OWN, path=("src",)), lambda chunk: chunk.path in OWN and chunk.path.startswith("src/")),
        (Filters(files=OWN | {"no/such.py"}, language=("markdown",)), lambda chunk: chunk.path in OWN and chunk.language == "markdown"),
        (Filters(files=MOST, before=date(2024, 1, 1)), lambda chunk: chunk.path in MOST),
        (Filters(files=ALL, author=("ana",)), lambda chunk: True),
    ],
    ids=[
        *("language", "languages", "kind", "files of a folder", "folder", "names", "strange name", "all fields", "everything"),
        *("files of an author", "in a folder", "of a language", "most files", "all files"),
    ],
)
def test_filters_are_part_of_the_query(store: DenseStore, filters: Filters, keep: object) -> None:
    assert callable(keep)
    rows = [row for row, chunk in enumerate(CHUNKS) if keep(chunk)]
    assert rows
    query = unit_rows(1, seed=2)[0]
    # With a limit below their number, filtering afterwards would bring fewer.
    for limit in (1, len(rows), 200):
        assert [row for row, _ in store.search(query, limit, filters)] == by_hand(VECTORS, query, limit, rows)


@pytest.mark.parametrize(
    "filters",
    [
        Filters(language=("cobol",)),
        Filters(path=("nowhere/**",)),
        Filters(language=("go",), kind=("section",)),
        Filters(path=("",)),
        Filters(files=frozenset(), author=("nobody",)),
        Filters(files=frozenset({"no/such.py"})),
        Filters(files=OWN, path=("src/net/file29.go",)),
    ],
    ids=said,
)
def test_a_filter_that_nothing_passes_finds_nothing(store: DenseStore, filters: Filters) -> None:
    assert store.search(VECTORS[0], 5, filters) == []


@pytest.mark.parametrize("filters", [Filters(author=("ana",)), Filters(since=date(2024, 1, 1)), Filters(before=date(2024, 1, 1))], ids=str)
def test_a_filter_that_needs_the_history_is_never_left_out(store: DenseStore, filters: Filters) -> None:
    with pytest.raises(RetrievalError, match="unresolved"):
        store.search(VECTORS[0], 5, filters)


@pytest.mark.parametrize("filters", [None, Filters(language=("go", "markdown")), Filters(path=("src/**",))], ids=str)
def test_a_store_brings_what_a_scan_brings(store: DenseStore, directory: Path, filters: Filters | None) -> None:
    if isinstance(store, ScanningStore):
        assert store.scans
    ChunkTable.write(directory / "chunks", CHUNKS)
    allowed = ChunkTable.open(directory / "chunks").mask(filters or Filters())
    for query in unit_rows(5, seed=3):
        mine, theirs = nearest(cosines_of(query, VECTORS), 20, allowed), store.search(query, 20, filters)
        assert [row for row, _ in mine] == [row for row, _ in theirs]
        assert [score for _, score in mine] == pytest.approx([score for _, score in theirs], abs=1e-5)


def test_ties_come_by_row(backend: DenseBackend, tmp_path: Path) -> None:
    vectors = np.repeat(unit_rows(4), 25, axis=0)
    backend.create(tmp_path / "ties", vectors, [chunk_of(row) for row in range(100)])
    store = backend.open(tmp_path / "ties")
    try:
        for limit in (1, 3, 24, 25, 26, 60):
            assert [row for row, _ in store.search(vectors[30], limit)][:25] == list(range(25, 50))[:limit]
    finally:
        store.close()


def test_a_store_of_one_point(backend: DenseBackend, tmp_path: Path) -> None:
    backend.create(tmp_path / "one", VECTORS[:1], CHUNKS[:1])
    store = backend.open(tmp_path / "one")
    try:
        [(row, score)] = store.search(-VECTORS[0], 10)
        assert row == 0
        assert score == pytest.approx(-1, abs=1e-5)
    finally:
        store.close()


def test_it_reopens_with_the_same_answers(backend: DenseBackend, directory: Path) -> None:
    answers = []
    for _ in range(3):
        store = backend.open(directory)
        answers.append(store.search(VECTORS[11], 20, Filters(language=("markdown",))))
        store.close()
    for answer in answers[1:]:
        assert [row for row, _ in answer] == [row for row, _ in answers[0]]
        np.testing.assert_allclose([score for _, score in answer], [score for _, score in answers[0]], atol=1e-6)


def test_threads_share_a_store(store: DenseStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda row: store.search(VECTORS[row], 3)[0][0], range(90)))
    assert found == list(range(90))


@pytest.mark.parametrize("query", [np.ones(DIMENSION + 1, dtype=np.float32), np.full(DIMENSION, np.nan, dtype=np.float32)])
def test_a_wrong_vector_is_an_error_that_says_so(store: DenseStore, query: Vector) -> None:
    with pytest.raises(RetrievalError, match="vector"):
        store.search(query, 3)


def test_searching_a_closed_store_is_an_error(backend: DenseBackend, directory: Path) -> None:
    store = backend.open(directory)
    store.close()
    store.close()
    with pytest.raises(RetrievalError):
        store.search(VECTORS[0], 3)


def test_vectors_and_chunks_must_belong_together(backend: DenseBackend, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="90"):
        backend.create(tmp_path / "odd", VECTORS[:5], CHUNKS)


@pytest.mark.parametrize("what", ["missing", "emptied", "no paths"])
def test_a_broken_directory_is_corrupt(backend: DenseBackend, directory: Path, what: str) -> None:
    if what == "missing":
        directory = directory / "elsewhere"
    elif what == "no paths":
        (directory / "paths.json").unlink()
    else:
        for path in directory.rglob("*"):
            if path.is_file():
                path.write_bytes(b"")
    with pytest.raises(IndexCorrupt):
        backend.open(directory)


def test_the_edge_engine_is_never_shown_an_altered_file(tmp_path: Path) -> None:
    """Left to itself it loads many of these and then finds fewer points, or dies of a truncated map."""
    backend = EdgeBackend()
    backend.create(tmp_path / "store", VECTORS, CHUNKS)
    tried = 0
    for path in sorted((tmp_path / "store").rglob("*")):
        if not path.is_file() or path.name in {"edge_config.json", "store.json"}:
            continue
        whole = path.read_bytes()
        for broken in (whole[: len(whole) // 2], whole[:-1] + bytes([whole[-1] ^ 1])):
            path.write_bytes(broken)
            with pytest.raises(IndexCorrupt, match=path.name):
                backend.open(tmp_path / "store")
            tried += 1
        path.write_bytes(whole)
    assert tried > 40
    backend.open(tmp_path / "store").close()


def test_a_graph_finds_the_neighbours_that_exact_search_finds(tmp_path: Path) -> None:
    vectors = unit_rows(3_000)
    chunks = [chunk_of(row) for row in range(3_000)]
    backend = EdgeBackend(exact_up_to=500)
    backend.create(tmp_path / "graph", vectors, chunks)
    store = backend.open(tmp_path / "graph")
    assert isinstance(store, ScanningStore)
    assert not store.scans
    try:
        queries = unit_rows(20, seed=3)
        shared = [len({row for row, _ in store.search(query, 10)} & set(by_hand(vectors, query, 10))) for query in queries]
        assert sum(shared) >= 0.98 * 10 * len(queries)
        rows = [row for row in range(3_000) if row % 3 == 1]
        found = store.search(queries[0], 10, Filters(language=("go",)))
        assert len({row for row, _ in found} & set(by_hand(vectors, queries[0], 10, rows))) >= 9
    finally:
        store.close()
