"""Languages that people speak, asked for by name where files are called by code."""

from __future__ import annotations

import numpy as np
import pytest

from rag.index.name_words import NameWords
from rag.retrieval.matching import Asked
from rag.retrieval.names import all_met
from rag.retrieval.tongues import CODES


@pytest.mark.parametrize(
    ("terms", "words", "precision"),
    [
        (["german", "messages"], ("de",), 1.0),
        (["german", "messages"], ("messages", "de"), 1.0),
        (["german"], ("german",), 1.0),
        (["messages"], ("de",), 0.0),
        (["de"], ("de",), 1.0),
        (["spanish"], ("de",), 0.0),
        (["portuguese"], ("pt", "br"), 0.5),
    ],
)
def test_a_language_meets_its_code(terms: list[str], words: tuple[str, ...], precision: float) -> None:
    names = NameWords.of_words([words], np.arange(1))
    assert all_met(names, Asked(terms, lambda term: 1.0)).precision.tolist() == [precision]


def test_names_and_codes_are_what_they_should_be() -> None:
    assert len(CODES) > 30
    assert all(len(code) == 2 and len(name) > 2 for name, code in CODES.items())
    assert len(set(CODES.values())) == len(CODES)
