"""All chunks' names at once meet a question as each of them does alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.defined_names import DefinedNames
from rag.index.tokens import split_words
from rag.retrieval.matching import Asked
from rag.retrieval.names import names_met

NAMES = st.sampled_from(
    ["openLocker", "Lockers", "config_of_door", "Configuration", "___", "door", "läßt", "HTTPServer", "a\nb", "\udce9x"]
)
TERMS = st.sampled_from(["locker", "open", "config", "doors", "http", "a", "läßt", "nothing"])
RARE = {"locker": 4.0, "open": 0.5}


@given(st.lists(st.lists(NAMES, max_size=4), max_size=6), st.lists(TERMS, max_size=5))
def test_it_is_the_best_name_of_each_chunk(names: list[list[str]], terms: list[str]) -> None:
    defines = DefinedNames.of(names)
    asked = Asked(terms, lambda term: RARE.get(term, 1.0))
    met = names_met(defines.words, asked, len(names))
    alone = [max((asked.match(split_words(name)).f1 for name in defines.of_row(row)), default=0.0) for row in range(len(names))]
    assert met == pytest.approx(np.array(alone))


def test_chunks_that_define_nothing_meet_nothing() -> None:
    asked = Asked(["locker"], lambda term: 1.0)
    assert names_met(DefinedNames.of([]).words, asked, 0).tolist() == []
    assert names_met(DefinedNames.of([(), ("openLocker", "door"), ()]).words, asked, 3).tolist() == pytest.approx([0, 2 / 3, 0])
