"""The chunks of many files in order, as if each file were looked at alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.evidence import Evidence
from rag.retrieval.lines import Lines
from rag.retrieval.pointed import Pointed
from rag.retrieval.signals import CODE

SCORES = [0.0, 0.25, 0.5, 0.75, 1.0]
ROWS = st.tuples(*(st.sampled_from(SCORES) for _ in range(3)))  # a row's words, similarity, and how well its names meet the question
CHOSEN = 8


def alone(words: np.ndarray, similarities: np.ndarray, names: np.ndarray, extra: np.ndarray) -> list[tuple[int, float]]:
    """One file's rows and their shares, row by row."""
    # Divided first, as there: two that tie must tie here, too.
    scores = CODE.lines_sparse * (words / (words.max() or np.inf)) + CODE.lines_dense * (similarities / (similarities.max() or np.inf))
    best = sorted(range(len(scores)), key=lambda row: -scores[row])[:CHOSEN]
    scores[best] += CODE.lines_names * names[best]
    scores += extra
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    return [(row, scores[row] / max(scores[order[0]], 1e-9)) for row in order]


@given(st.lists(st.lists(ROWS, min_size=1, max_size=14), min_size=1, max_size=5), st.integers(1, 16), st.booleans(), st.data())
def test_the_rows_of_each_file_come_as_they_come_alone(
    files: list[list[tuple[float, ...]]], most: int, pointed: bool, data: st.DataObject
) -> None:
    words, similarities, names = np.array([row for of_file in files for row in of_file]).T
    lengths = np.array([len(of_file) for of_file in files])
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(files)), lengths)
    evidence = Evidence(np.arange(len(files)), np.arange(len(words)), starts, owner, words, similarities)
    rows = frozenset(data.draw(st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=3))) if pointed else frozenset()
    meant = frozenset(data.draw(st.sets(st.integers(0, len(words) - 1), max_size=2))) if pointed else frozenset()
    more = data.draw(st.dictionaries(st.integers(0, len(words) - 1), st.sampled_from(SCORES), max_size=3)) if pointed else {}
    places = data.draw(st.permutations(range(len(files))))
    found = Lines(evidence, names, Pointed(rows=rows), meant, more, None, CODE).of_files(places, most)
    extra = np.zeros(len(words))
    extra[list(rows)] += CODE.lines_pointed
    extra[list(meant)] += CODE.lines_meant
    extra[list(more)] += np.array(list(more.values()))
    for place, start, end in zip(places, [0, *found.ends], found.ends, strict=False):
        here = slice(starts[place], starts[place] + lengths[place])
        wanted = alone(words[here], similarities[here], names[here], extra[here])[:most]
        assert [row - starts[place] for row in found.rows[start:end]] == [row for row, _ in wanted]
        assert found.shares[start:end] == pytest.approx([share for _, share in wanted])
    assert len(found.rows) == len(found.shares) == found.ends[-1]
