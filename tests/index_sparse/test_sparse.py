from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from rag.errors import IndexCorrupt
from rag.index.sparse import SparseIndex
from rag.index.term_counts import chunk_terms
from rag.types import Chunk, Kind

SparseIndex.from_terms([["the", "first"]])  # the first one imports SciPy, which no example's time limit should count

WORDS = st.sampled_from(["a", "b", "open", "file", "größe", "_x", "read_file", "\ud800"])
CORPUS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=12)


def okapi(corpus: list[list[str]], query: list[str]) -> np.ndarray:
    """rank-bm25's own scores; it cannot count a corpus without a term."""
    if not any(corpus):
        return np.zeros(len(corpus))
    return np.asarray(BM25Okapi(corpus).get_scores(query))


@given(CORPUS, st.lists(WORDS | st.just("unseen"), max_size=6))
def test_scores_equal_rank_bm25(corpus: list[list[str]], query: list[str]) -> None:
    index = SparseIndex.from_terms(corpus)
    np.testing.assert_allclose(index.scores(query), okapi(corpus, query), rtol=0, atol=1e-9)


@given(CORPUS, st.lists(WORDS, max_size=4), st.integers(1, 15), st.data())
def test_search_ranks_what_holds_a_term_by_score_and_then_by_row(
    corpus: list[list[str]], query: list[str], limit: int, data: st.DataObject
) -> None:
    index = SparseIndex.from_terms(corpus)
    mask = np.asarray(data.draw(st.lists(st.booleans(), min_size=len(corpus), max_size=len(corpus))))
    scores = index.scores(query)
    for rows in (None, mask):
        allowed = [row for row, document in enumerate(corpus) if set(document) & set(query) and (rows is None or rows[row])]
        expected = sorted(allowed, key=lambda row: (-scores[row], row))[:limit]
        found = index.search(query, limit, rows)
        assert [row for row, _ in found] == expected
        assert [score for _, score in found] == [scores[row] for row in expected]


@settings(max_examples=40, deadline=None)  # it writes files
@given(CORPUS, st.lists(WORDS, max_size=4))
def test_what_is_opened_is_what_was_saved(corpus: list[list[str]], query: list[str]) -> None:
    index = SparseIndex.from_terms(corpus)
    with tempfile.TemporaryDirectory() as directory:
        index.save(Path(directory))
        opened = SparseIndex.open(Path(directory))
        assert len(opened) == len(corpus)
        np.testing.assert_array_equal(opened.scores(query), index.scores(query))
        assert opened.search(query, 5) == index.search(query, 5)


def test_an_empty_corpus_finds_nothing(tmp_path: Path) -> None:
    SparseIndex.build([]).save(tmp_path)
    index = SparseIndex.open(tmp_path)
    assert len(index) == 0
    assert index.search(["anything"], 10) == []


def test_one_chunk_is_found_although_its_score_is_negative() -> None:
    index = SparseIndex.from_terms([["only", "document"]])
    [(row, score)] = index.search(["only"], 10)
    assert row == 0
    assert score <= 0
    assert index.search(["other"], 10) == []


def test_limit_of_nothing_finds_nothing() -> None:
    assert SparseIndex.from_terms([["a"], ["b"]]).search(["a"], 0) == []


def chunk(path: str, text: str, **fields: object) -> Chunk:
    return Chunk(path, 1, text.count("\n") + 1, Kind.FUNCTION, "python", text, **fields)  # type: ignore[arg-type]


TEXTS = st.text(st.sampled_from("aZé9_ .(\n\ud800"), max_size=40)


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=6), st.lists(st.sampled_from(["a", "z", "9", "az", "src"]), max_size=3))
def test_counting_chunk_by_chunk_is_counting_their_terms(parts: list[tuple[str, str, str]], query: list[str]) -> None:
    chunks = [chunk(f"src/{name or 'x'}.py", text, scope=scope, defines=(name, "aZ")) for text, name, scope in parts]
    one, other = SparseIndex.build(chunks), SparseIndex.from_terms([chunk_terms(each) for each in chunks])
    np.testing.assert_array_equal(one.scores(query), other.scores(query))
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        one.save(Path(first))
        other.save(Path(second))
        assert all(file.read_bytes() == (Path(second) / file.name).read_bytes() for file in Path(first).iterdir())


def test_counts_are_added_up_in_blocks_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [["a", "b", "a"], [], ["c", "a"], ["b"] * 9, ["c", "d", "c"]]
    whole = SparseIndex.from_terms(corpus)
    monkeypatch.setattr("rag.index.term_counts._BLOCK", 4)
    for term in "abcd":
        np.testing.assert_array_equal(SparseIndex.from_terms(corpus).scores([term]), whole.scores([term]))


def test_path_names_and_scope_are_found_and_weigh_as_documented() -> None:
    found = chunk_terms(chunk("src/http_auth/session.py", "pass", defines=("open_session",), scope="Client"))
    assert found.count("pass") == 1
    assert found.count("session") == 2 + 2  # file stem twice, defined name twice
    assert found.count("open_session") == 2
    assert found.count("http_auth") == 1
    assert found.count("client") == 1


def test_the_file_named_after_the_question_ranks_first() -> None:
    chunks = [chunk("a/other.py", "session = 1"), chunk("a/session.py", "value = 1"), *(chunk(f"a/f{i}.py", "pass") for i in range(5))]
    assert SparseIndex.build(chunks).search(["session"], 1)[0][0] == 1


NAMES = ["sparse.json", "terms.bin", "term_ends.npy", "indptr.npy", "rows.npy", "weights.npy"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", ["missing", "truncated", "empty", "garbage"])
def test_a_damaged_file_is_an_error_that_names_the_directory(tmp_path: Path, name: str, damage: str) -> None:
    SparseIndex.from_terms([["a", "b"], ["b", "c"]]).save(tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"truncated": whole[: len(whole) - 3], "empty": b"", "garbage": b"\x93NUMPY garbage"}[damage])
    with pytest.raises(IndexCorrupt, match=tmp_path.name):
        SparseIndex.open(tmp_path)


def test_a_row_out_of_range_is_an_error_and_no_result(tmp_path: Path) -> None:
    SparseIndex.from_terms([["a", "b"], ["b", "c"]]).save(tmp_path)
    rows = np.load(tmp_path / "rows.npy")
    np.save(tmp_path / "rows.npy", rows + 5)
    with pytest.raises(IndexCorrupt):
        SparseIndex.open(tmp_path).search(["a"], 3)


def test_an_open_index_outlives_its_directory(tmp_path: Path) -> None:
    directory = tmp_path / "sparse"
    directory.mkdir()
    SparseIndex.from_terms([["a"], ["b"]]).save(directory)
    index = SparseIndex.open(directory)
    shutil.rmtree(directory)
    assert [row for row, _ in index.search(["b"], 3)] == [1]
