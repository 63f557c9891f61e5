from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag.protocols import Vector
from rag.retrieval.diversity import Fold, folded, marginal, overlap, shingles
from rag.types import Chunk, Kind

LINES = [f"    value_{number} = shelf.take({number}, keep=True)" for number in range(30)]


def unit(rows: list[list[float]]) -> Vector:
    found = np.asarray(rows, dtype=np.float32)
    scaled: Vector = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return scaled


def fold(paths: list[str], texts: list[str], vectors: Vector | None, question: str = "") -> list[Fold]:
    def read(places: list[int]) -> list[Chunk]:
        return [Chunk(paths[place], 1, 9, Kind.FUNCTION, "python", texts[place]) for place in places]

    return folded(paths, vectors, read, question)


def text_of(first: int, changed: int = 0) -> str:
    return "\n".join([f"    other_{number}()" for number in range(changed)] + LINES[first : first + 12])


def test_copies_in_other_files_are_folded_and_named() -> None:
    paths = ["a/door.py", "b/lamp.py", "fork/door.py", "c/door.py"]
    texts = [text_of(0), text_of(15), text_of(0), text_of(0, changed=1)]
    vectors = unit([[1, 0], [0, 1], [1, 0.01], [1, 0.02]])
    assert fold(paths, texts, vectors) == [Fold(0, (2, 3)), Fold(1)]
    assert fold(paths, texts, None) == [Fold(0, (2, 3)), Fold(1)]


def test_both_the_vector_and_the_text_must_agree() -> None:
    paths = ["a.py", "b.py"]
    apart, together = unit([[1, 0], [0, 1]]), unit([[1, 0], [1, 0]])
    assert len(fold(paths, [text_of(0), text_of(0)], apart)) == 2
    assert len(fold(paths, [text_of(0), text_of(9)], together)) == 2
    assert len(fold(paths, [text_of(0), text_of(0)], together)) == 1


def test_a_file_is_no_twin_of_itself() -> None:
    assert len(fold(["a.py", "a.py"], [text_of(0)] * 2, unit([[1, 0], [1, 0]]))) == 2


def test_white_space_makes_no_difference_and_names_do() -> None:
    one = "def take(self, key):\n    return self.shelf[key]"
    assert overlap(shingles(one), shingles(one.replace("    ", "\t"))) == 1
    assert overlap(shingles(one), shingles(one.replace("key", "name"))) < 0.5
    assert overlap(shingles("x"), shingles("x")) == 1
    assert overlap(shingles("x"), shingles("y")) == 0
    assert overlap(shingles(""), shingles("")) == 1


def versions(question: str, *paths: str) -> str:
    [found] = fold(list(paths), [text_of(0, changed=number) for number in range(len(paths))], None, question)
    return paths[found.leader]


def test_of_versions_of_a_file_the_one_that_is_meant_leads() -> None:
    assert versions("where", "depot/v1/door.py", "depot/door.py") == "depot/door.py"
    assert versions("where", "depot/v1/door.py", "depot/v10/door.py", "depot/v2/door.py") == "depot/v10/door.py"
    assert versions("where in v1", "depot/door.py", "depot/v2/door.py", "depot/v1/door.py") == "depot/v1/door.py"
    assert versions("where in V2?", "depot/door.py", "depot/v2/door.py") == "depot/v2/door.py"
    # A copy elsewhere is no version: the better one leads.
    assert versions("where", "fork/door.py", "depot/door.py") == "fork/door.py"


def test_versions_may_differ_more_than_copies() -> None:
    texts = [text_of(0), text_of(0, changed=20)]
    assert len(fold(["depot/v1/door.py", "depot/v2/door.py"], texts, None)) == 1
    assert len(fold(["depot/a/door.py", "depot/b/door.py"], texts, None)) == 2


paths_ = st.sampled_from(["a/x.py", "b/x.py", "v1/x.py", "v2/x.py", "x.py", "c/y.py"])
texts_ = st.sampled_from([text_of(0), text_of(0, changed=1), text_of(0, changed=3), text_of(3), text_of(9), "", "pass"])
angles = st.floats(0, 0.6)
cases = st.lists(st.tuples(paths_, texts_, angles), max_size=14)


@given(cases, st.booleans(), st.sampled_from(["", "in v1", "v2"]))
def test_every_place_is_in_one_fold_and_folding_again_changes_nothing(
    rows: list[tuple[str, str, float]], with_vectors: bool, question: str
) -> None:
    paths, texts = [row[0] for row in rows], [row[1] for row in rows]
    vectors = unit([[np.cos(row[2]), np.sin(row[2])] for row in rows]) if with_vectors and rows else None
    folds = fold(paths, texts, vectors, question)
    assert sorted(place for one in folds for place in (one.leader, *one.twins)) == list(range(len(rows)))
    assert [one.first for one in folds] == sorted(one.first for one in folds)
    leaders = [one.leader for one in folds]
    again = fold(
        [paths[place] for place in leaders],
        [texts[place] for place in leaders],
        None if vectors is None else vectors[leaders],
        question,
    )
    assert again == [Fold(place) for place in range(len(leaders))]


vectors_ = st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=12)


@given(vectors_, st.floats(0, 1), st.integers(1, 15))
def test_marginal_relevance_is_an_order_of_the_places(rows: list[list[float]], trade: float, limit: int) -> None:
    relevance = [1 - place / 20 for place in range(len(rows))]
    chosen = marginal(relevance, unit(rows), trade, limit)
    assert len(chosen) == len(set(chosen)) == min(limit, len(rows))
    assert set(chosen) <= set(range(len(rows)))
    if trade > 0:
        assert chosen[0] == 0
    assert marginal(relevance, unit(rows), 1.0, limit) == list(range(min(limit, len(rows))))
    assert chosen[:3] == marginal(relevance, unit(rows), trade, min(3, limit))


def test_what_says_something_else_comes_before_what_says_the_same() -> None:
    vectors = unit([[1, 0], [1, 0.05], [0, 1]])
    assert marginal([1.0, 0.95, 0.8], vectors, 0.5, 3) == [0, 2, 1]
    assert marginal([1.0, 0.95, 0.8], vectors, 0.95, 3) == [0, 1, 2]
