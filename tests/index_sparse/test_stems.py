from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.index.term_counts import TermCounts
from rag.types import Chunk, Kind
from tests.index_sparse.test_sparse import CORPUS, okapi

FAMILIES = [
    ("routing", "routes", "route", "router", "routers", "routed"),
    ("validate", "validates", "validation", "validator", "validators", "validated", "validating"),
    ("serialize", "serializer", "serialization", "serialise"),
    ("query", "queries"),
    ("running", "run", "runs", "runner"),
    ("process", "processes", "processing", "processor"),
    ("cookie", "cookies"),
    ("apply", "applied", "applies", "applying"),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_relatives_share_a_form(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_families_stay_apart_and_what_is_no_word_stays() -> None:
    assert len({stem(family[0]) for family in FAMILIES}) == len(FAMILIES)
    assert [stem(term) for term in ("is", "bus", "größes", "read_files", "v2s", "")] == ["is", "bus", "größes", "read_files", "v2s", ""]


@given(st.text(max_size=20))
def test_a_form_is_a_beginning(term: str) -> None:
    assert term.startswith(stem(term))
    assert stem(term) or not term


@given(CORPUS, st.lists(st.sampled_from(["a", "open", "file", "unseen"]), max_size=4))
def test_scores_over_folded_terms_equal_rank_bm25(corpus: list[list[str]], query: list[str]) -> None:
    counted = TermCounts()
    for terms_of_chunk in corpus:
        counted.add_terms(terms_of_chunk)
    index = SparseIndex.weighed(counted.folded(lambda term: term[:1]))
    folded = [[term[:1] for term in of_one] for of_one in corpus]
    asked = [term[:1] for term in query]
    assert index.scores(asked) == pytest.approx(okapi(folded, asked), abs=1e-9)
    assert index.holding(asked).tolist() == [bool(set(of_one) & set(asked)) for of_one in folded]
    for term in set(asked):
        assert index.holders(term).tolist() == [row for row, of_one in enumerate(folded) if term in of_one]


def test_counting_goes_on_after_a_fold() -> None:
    counted = TermCounts()
    counted.add(Chunk("doors.py", 1, 1, Kind.MODULE, "python", "opened doors"))
    counted.folded(stem)
    counted.add(Chunk("door.py", 1, 1, Kind.MODULE, "python", "door"))
    index = SparseIndex.weighed(counted.folded(stem))
    assert len(index) == 2
    assert index.holders("door").tolist() == [0, 1]
