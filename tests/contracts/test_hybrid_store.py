"""What a store that holds both parts promises: the very ranking of the sparse part, and the filters of every other store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.index.chunk_table import ChunkTable
from rag.index.server_store import SPARE
from rag.index.sparse import SparseIndex
from rag.protocols import DenseBackend, HybridStore
from rag.types import Chunk, Filters, Kind
from tests.contracts.test_dense_store import CHUNKS, DIMENSION, LANGUAGES, MOST, OWN, REAL, VECTORS, by_hand, said, unit_rows
from tests.index.servers import both, local_backend, real_backend

Corpus = Sequence[Sequence[str]]
WORDS = ("open", "close", "read", "lock", "key")


@pytest.fixture(params=["qdrant-server", REAL])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DenseBackend]:
    if request.param == "qdrant-server":
        yield local_backend(tmp_path)
    else:
        with real_backend(tmp_path) as made:
            yield made


def opened(backend: DenseBackend, directory: Path, corpus: Corpus) -> tuple[SparseIndex, HybridStore]:
    sparse = SparseIndex.from_terms(corpus)
    chunks = [Chunk(f"{('a', 'b')[row % 2]}/{row}.py", 1, 1, Kind.LINES, LANGUAGES[row % 3], "x") for row in range(len(corpus))]
    backend.create(directory, unit_rows(len(corpus)), chunks, sparse)
    store = backend.open(directory)
    assert isinstance(store, HybridStore)
    return sparse, store


def agree(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    """The same scores to the precision of 32 bits, and the same rows but where scores that close changed places."""
    np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], rtol=1e-5, atol=1e-6)
    scores = dict(expected)
    for (row, _), (_, due) in zip(found, expected, strict=True):
        assert row not in scores or scores[row] == pytest.approx(due, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("query", [["open"], ["open", "read", "open"], ["lock", "key", "lock", "lock"], list(WORDS)], ids=str)
def test_words_rank_as_in_the_sparse_part(backend: DenseBackend, tmp_path: Path, query: list[str]) -> None:
    numbers = np.random.default_rng(5)
    corpus = [[WORDS[int(number) % 5] for number in numbers.integers(0, 25, size=1 + row % 9)] for row in range(150)]
    sparse, store = opened(backend, tmp_path / "store", corpus)
    for limit in (1, 10, 200):
        found, dense = both(store, VECTORS[0], sparse.counts(query), limit)
        agree(found, sparse.search(query, limit))
        assert len(dense) == min(limit, 150)
        assert [row for row, _ in dense] == [row for row, _ in store.search(VECTORS[0], limit)]


@pytest.mark.parametrize(
    "corpus",
    [
        [["open"], ["close"]],
        [["open"], ["open"]],
        [["open"], ["close"], ["open", "read"], ["read"]],
        [["open"], [], ["open", "open"]],
        [["open", "close"]] * 3,
    ],
    ids=["idf of nothing", "idf below nothing", "half", "a chunk without words", "all alike"],
)
def test_chunks_that_score_nothing_or_less_are_candidates(backend: DenseBackend, tmp_path: Path, corpus: Corpus) -> None:
    sparse, store = opened(backend, tmp_path / "store", corpus)
    for query in (["open"], ["open", "read"], ["close"]):
        found, _ = both(store, VECTORS[0], sparse.counts(query), 10)
        expected = sparse.search(query, 10)
        assert expected or query == ["close"]
        assert [row for row, _ in found] == [row for row, _ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], rtol=1e-6, atol=1e-12)


def test_a_wide_tie_ends_by_row(backend: DenseBackend, tmp_path: Path) -> None:
    sparse, store = opened(backend, tmp_path / "store", [["open", "door"]] * 120 + [["open", "window"]] + [["shut"]] * 200)
    for limit in (1, 5, 5 + SPARE, 119, 120, 121):
        found, _ = both(store, VECTORS[0], sparse.counts(["open", "window"]), limit)
        assert [row for row, _ in found] == [120, *range(120)][:limit]


def test_a_query_of_unknown_words_finds_nothing_by_words(backend: DenseBackend, tmp_path: Path) -> None:
    sparse, store = opened(backend, tmp_path / "store", [["open"], ["close"], ["read"]])
    found, dense = both(store, VECTORS[0], sparse.counts(["unheard", "of"]), 5)
    assert found == []
    assert len(dense) == 3
    assert both(store, VECTORS[0], sparse.counts(["open"]), 0) == ([], [])


@pytest.mark.parametrize(
    "filters",
    [
        Filters(language=("go",)),
        Filters(kind=("section", "class")),
        Filters(path=("src/net",)),
        Filters(path=("*.md",), language=("markdown",)),
        Filters(path=("file?.py", "docs/**")),
        Filters(path=("**/file1*",)),
        Filters(path=("nowhere",)),
        Filters(path=("!src", "#x")),
        Filters(files=OWN, author=("ana",)),
        Filters(files=MOST, path=("src",), since=date(2024, 1, 1)),
        Filters(files=frozenset(), author=("nobody",)),
    ],
    ids=said,
)
def test_both_are_filtered_alike(backend: DenseBackend, tmp_path: Path, filters: Filters) -> None:
    sparse = SparseIndex.build(CHUNKS)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, sparse)
    store = backend.open(tmp_path / "store")
    assert isinstance(store, HybridStore)
    ChunkTable.write(tmp_path / "table", CHUNKS)
    mask = ChunkTable.open(tmp_path / "table").mask(filters)
    assert mask is not None
    found, dense = both(store, VECTORS[7], sparse.counts(["line"]), 200, filters)
    assert sorted(row for row, _ in found) == np.flatnonzero(mask).tolist()
    assert [row for row, _ in dense] == by_hand(VECTORS, VECTORS[7], 200, np.flatnonzero(mask).tolist())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12),
    query=st.lists(st.sampled_from([*WORDS, "other"]), max_size=5),
    limit=st.integers(1, 15),
)
def test_any_corpus_ranks_as_in_the_sparse_part(tmp_path: Path, corpus: Corpus, query: list[str], limit: int) -> None:
    backend = local_backend(tmp_path)
    directory = tmp_path / f"store{len(list(tmp_path.iterdir()))}"
    sparse, store = opened(backend, directory, corpus)
    found, _ = both(store, unit_rows(1)[0][:DIMENSION], sparse.counts(query), limit)
    agree(found, sparse.search(query, limit))
