from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval import signals
from rag.retrieval.matching import Matches
from rag.retrieval.signals import CODE, PROSE
from rag.types import Chunk, Kind


def test_a_file_name_that_says_all_gains_its_whole_weight() -> None:
    names = Matches(np.array([1.0, 0.5, 0.0]), np.array([1.0, 1.0, 0.0]))
    gained = signals.stem_match(names, CODE).tolist()
    assert gained[0] == pytest.approx(CODE.stem + CODE.stem_alone)
    assert gained == sorted(gained, reverse=True)
    assert gained[2] == 0
    assert signals.names_match(np.array([0.0, 1.0]), CODE).tolist() == [0, CODE.names]
    assert signals.directory_match(names, CODE).tolist() == [CODE.directory, CODE.directory, 0]


def chunk(kind: Kind, symbol: str) -> Chunk:
    return Chunk("depot/door.py", 1, 2, kind, "python", "x", symbol=symbol, defines=("Door",))


def test_a_type_is_more_of_a_definition_than_a_function_and_that_than_a_mention() -> None:
    kinds = [
        signals.definition(chunk(Kind.CLASS, "Depot.Door"), "door"),
        signals.definition(chunk(Kind.METHOD, "Depot.door"), "door"),
        signals.definition(chunk(Kind.MODULE, "door"), "door"),
        signals.definition(chunk(Kind.CLASS, "Depot"), "door"),
    ]
    assert kinds == [1.0, 0.8, 0.4, 0.4]


def test_a_bare_symbol_gains_more_and_most_where_the_file_is_called_so() -> None:
    strength, called_so = np.array([1.0, 1.0, 0.0]), np.array([False, True, True])
    alone = signals.defines_what_is_asked(strength, called_so, CODE, symbol=True)
    assert alone.tolist() == [CODE.definition, CODE.definition * CODE.stem_agrees, 0]
    assert signals.defines_what_is_asked(strength, called_so, CODE, symbol=False).tolist() == [CODE.mention, CODE.mention, 0]


def test_size_and_age() -> None:
    large, small = signals.size(np.array([9, 1]), 1, CODE)
    assert large == CODE.size > small > 0
    old = np.array([True, False])
    assert signals.currency(old, CODE).tolist() == [CODE.outdated, 1]
    assert signals.currency(old, PROSE).tolist() == [1, 1]
    assert signals.depth(np.array([0, 3, 1000]), CODE).tolist() == [1, 1 - 3 * CODE.level, 0]


def test_a_question_that_says_much_is_about_a_place_and_not_about_a_whole_file() -> None:
    broad = [signals.breadth(terms) for terms in range(200)]
    assert broad == sorted(broad, reverse=True)
    assert broad[0] == broad[3] == 1 > broad[24] == 0.5 > broad[-1] > 0
    shares = np.array([1.0, 0.5])
    assert signals.coherence(shares, 0.5, CODE).tolist() == [CODE.coherence / 2, CODE.coherence / 4]
    assert signals.coherence(shares, 1, CODE).tolist() == [CODE.coherence, CODE.coherence / 2]
    assert signals.size(np.array([9]), 0.5, CODE) == CODE.size / 2


def test_what_a_question_points_at_gains_and_a_frame_the_more_the_nearer_it_is() -> None:
    nothing, named, far, near = signals.pointed_at(np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 1.0]), CODE)
    assert nothing == 0
    assert named == CODE.place
    assert 0 < far < near == CODE.frame


def test_tests_and_examples_give_way_unless_they_are_wanted_or_far_better() -> None:
    test, example = np.array([True, False, False, True]), np.array([False, True, False, True])

    def role(weights: signals.Weights = CODE, *, tests: bool = False, examples: bool = False, better: float = 0.0) -> list[float]:
        found: list[float] = signals.role(test, example, weights, tests=tests, examples=examples, better=np.full(4, better)).tolist()
        return found

    assert role() == [CODE.test, CODE.example, 1, CODE.test]
    assert role(tests=True) == [1, CODE.example, 1, CODE.example]
    assert role(examples=True) == [CODE.test, 1, 1, CODE.test]
    assert role(tests=True, examples=True) == [1, 1, 1, 1]
    assert role(better=-1.0) == role()
    assert CODE.test < role(better=CODE.lenience / 2)[0] < role(better=CODE.lenience)[0] == 1
    assert role(PROSE) == [1, 1, 1, 1]
    assert role(replace(CODE, lenience=0.0), better=1.0) == role()


def test_change_logs_and_translations_give_way_unless_they_answer_far_better() -> None:
    log, other, plain = np.array([True, False, False]), np.array([False, True, False]), np.zeros(3)
    assert signals.page(log, other, PROSE, better=plain).tolist() == [PROSE.changes, PROSE.translation, 1.0]
    assert signals.page(log, log, PROSE, better=plain)[0] == PROSE.changes * PROSE.translation
    nearly = signals.page(log, other, PROSE, better=plain + PROSE.lenience / 2)
    assert nearly.tolist() == [(1 + PROSE.changes) / 2, (1 + PROSE.translation) / 2, 1.0]
    assert signals.page(log, log, PROSE, better=plain + PROSE.lenience).tolist() == [1.0, 1.0, 1.0]
    assert signals.page(log, other, CODE, better=plain).tolist() == [1.0, 1.0, 1.0]


def test_settings_and_files_of_no_known_language_give_way_unless_they_are_far_better() -> None:
    data, odd = np.array([True, True, False]), np.array([False, True, False])
    none = np.zeros(3)
    assert signals.material(data, odd, none, CODE, better=np.full(3, -1.0)).tolist() == [CODE.data, CODE.odd, 1.0]
    assert CODE.odd < CODE.data < signals.material(data, odd, none, CODE, better=np.full(3, CODE.lenience / 2))[0] < 1
    assert signals.material(data, odd, none, CODE, better=np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_settings_that_are_asked_for_give_way_to_nothing() -> None:
    data, odd = np.array([True, True, False]), np.array([False, True, False])
    assert signals.material(data, odd, np.array([0.5, 0.1, 0.0]), CODE, better=np.full(3, -1.0)).tolist() == [1.0, 1.0, 1.0]
    for weights in (CODE, PROSE):
        gained = signals.setup(np.array([0.0, 0.5, 1.0]), weights)
        assert gained.tolist() == [0.0, weights.setup / 2, weights.setup]
        assert weights.setup > weights.stem + weights.trunk


def test_where_the_code_is_counts_for_less_where_a_name_says_where_to_look() -> None:
    share = np.array([1.0, 0.5, 0.0])
    alone, named = (signals.trunk(share, CODE, named=named) for named in (False, True))
    assert alone.tolist() == [CODE.trunk, CODE.trunk / 2, 0.0]
    assert 0 < named[1] < alone[1]
    assert not signals.trunk(share, PROSE, named=False).any()


def test_half_as_much_depends_on_what_a_file_is_where_a_name_is_asked_about() -> None:
    members = signals.of_members(CODE)
    for weight in ("coherence", "size", "trunk", "tested"):
        assert getattr(members, weight) == getattr(CODE, weight) / 2 > 0
    for factor in ("test", "example"):
        assert 1 - getattr(members, factor) == pytest.approx((1 - getattr(CODE, factor)) / 2)
    assert (members.stem, members.definition, members.mention, members.sparse) == (CODE.stem, CODE.definition, CODE.mention, CODE.sparse)


def test_a_file_whose_tests_answer_gains_by_it() -> None:
    assert signals.tested(np.array([0.8, 0.0]), CODE).tolist() == pytest.approx([0.8 * CODE.tested, 0.0])
    assert not signals.tested(np.ones(2), PROSE).any()


@given(st.integers(0, 12), st.floats(0, 1))
def test_a_repeated_file_weighs_less_and_less(position: int, share: float) -> None:
    now, later = (signals.repeated(at, share, CODE) for at in (position, position + 1))
    assert 0 < later <= now <= 1
    assert signals.repeated(0, share, CODE) == 1


@pytest.mark.parametrize("weights", [CODE, PROSE])
def test_words_count_for_more_beside_static_vectors_and_nothing_else_changes(weights: signals.Weights) -> None:
    assert signals.fitting(weights, "onnx-int8") is weights
    beside = signals.fitting(weights, "static")
    assert beside.sparse > weights.sparse
    assert beside.sparse_of_symbol >= weights.sparse_of_symbol
    assert replace(beside, sparse=weights.sparse, sparse_of_symbol=weights.sparse_of_symbol) == weights
