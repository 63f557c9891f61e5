"""All chunks' names at once meet a question as each of them does alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.defined_names import DefinedNames
from rag.index.name_words import BEGINNING, NameWords
from rag.index.tokens import split_words
from rag.retrieval.matching import Asked
from rag.retrieval.names import all_met, names_met

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
    alone = [max((f1(asked, split_words(name)) for name in defines.of_row(row)), default=0.0) for row in range(len(names))]
    assert met == pytest.approx(np.array(alone))


def alone_met(asked: Asked, words: Sequence[str]) -> tuple[float, float]:
    """The share of the words that meet a term, and of the question's importance that they hold."""
    met = [asked.meeting(word) for word in words]
    covered = {term for terms in met for term in terms}
    return sum(map(bool, met)) / max(len(words), 1), sum(asked.importance[term] for term in covered) / asked.all


def f1(asked: Asked, words: Sequence[str]) -> float:
    precision, coverage = alone_met(asked, words)
    return 2 * precision * coverage / (precision + coverage) if precision else 0.0


WORDS = st.sampled_from(["locker", "lockers", "open", "opened", "con", "config", "configuration", "doors", "door", "de", "http"])


@given(st.lists(st.lists(WORDS, max_size=4), max_size=6), st.lists(st.one_of(TERMS, st.just("german")), max_size=5))
def test_each_of_many_names_is_met_as_it_is_alone(names: list[list[str]], terms: list[str]) -> None:
    asked = Asked(terms, lambda term: RARE.get(term, 1.0))
    found = all_met(NameWords.of_words(names, np.arange(len(names))), asked)
    alone = [alone_met(asked, words) for words in names]
    assert found.precision == pytest.approx(np.array([precision for precision, _ in alone]))
    assert found.coverage == pytest.approx(np.array([coverage for _, coverage in alone]))
    some = np.arange(len(names))[::2]
    assert found.of(some).coverage.tolist() == found.coverage[some].tolist()


def test_a_word_meets_its_relatives_its_beginnings_and_the_code_of_a_language() -> None:
    asked = Asked(["locker", "configuration", "open", "german"], lambda term: 1.0)
    met = {word: asked.meeting(word) for word in ("lockers", "config", "opened", "de", "door", "co", "")}
    assert met == {
        "lockers": ("locker",),
        "config": ("configuration",),
        "opened": ("open",),
        "de": ("german",),
        "door": (),
        "co": (),
        "": (),
    }
    words = {word[:BEGINNING]: [(word, 1)] for word in met}
    assert {word for word, _ in asked.near(words)} == {word for word, terms in met.items() if terms}


def test_chunks_that_define_nothing_meet_nothing() -> None:
    asked = Asked(["locker"], lambda term: 1.0)
    assert names_met(DefinedNames.of([]).words, asked, 0).tolist() == []
    assert names_met(DefinedNames.of([(), ("openLocker", "door"), ()]).words, asked, 3).tolist() == pytest.approx([0, 2 / 3, 0])
