from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval import signals
from rag.retrieval.paths import PathFacts, path_facts
from rag.retrieval.signals import CODE, NO_MATCH, PROSE, Asked, Match
from rag.types import Chunk, Kind

RARE = {"locker": 4.0, "open": 1.0}


def asked(*terms: str) -> Asked:
    return Asked(terms, lambda term: RARE.get(term, 1.0))


def test_a_match_is_of_stems_or_beginnings_weighed_by_importance() -> None:
    question = asked("locker", "configuration", "open")
    assert question.match(("lockers", "door")) == Match(0.5, 4 / 6)
    assert question.match(("config",)) == Match(1.0, 1 / 6)
    assert question.match(("opened", "opening")) == Match(1.0, 1 / 6)
    assert question.match(("door",)) == NO_MATCH
    assert question.match(()) == NO_MATCH
    assert asked().match(("door",)) == NO_MATCH


@given(st.lists(st.sampled_from(["locker", "open", "door", "doors"]), max_size=4), st.lists(st.sampled_from(["lockers", "door", "x"])))
def test_a_match_stays_between_nothing_and_one(terms: list[str], words: list[str]) -> None:
    match = asked(*terms).match(tuple(words))
    assert 0 <= match.precision <= 1
    assert 0 <= match.coverage <= 1 + 1e-9
    assert min(match.precision, match.coverage) - 1e-9 <= match.f1 <= max(match.precision, match.coverage) + 1e-9


def test_a_file_name_that_says_all_gains_its_whole_weight() -> None:
    assert signals.stem_match(Match(1, 1), CODE) == pytest.approx(CODE.stem + CODE.stem_alone)
    assert signals.stem_match(NO_MATCH, CODE) == 0
    assert signals.stem_match(Match(0.5, 1), CODE) < signals.stem_match(Match(1, 1), CODE)
    assert signals.names_match([], CODE) == 0
    assert signals.names_match([NO_MATCH, Match(1, 1)], CODE) == CODE.names


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
    here, elsewhere = path_facts("depot/OpenDoor.py"), path_facts("depot/util.py")
    alone = signals.defines_what_is_asked(1.0, elsewhere, "open_door", CODE)
    assert alone == CODE.definition
    assert signals.defines_what_is_asked(1.0, here, "open_door", CODE) == CODE.definition * CODE.stem_agrees
    assert signals.defines_what_is_asked(1.0, here, "", CODE) == CODE.mention
    assert signals.defines_what_is_asked(0.0, here, "open_door", CODE) == 0


def test_size_and_age() -> None:
    assert signals.size(9, 9, 1, CODE) == CODE.size > signals.size(1, 9, 1, CODE) > 0
    old, current = path_facts("depot/deprecated/door.py"), path_facts("depot/door.py")
    assert signals.currency(old, False, CODE) == signals.currency(current, True, CODE) == CODE.outdated
    assert signals.currency(current, False, CODE) == signals.currency(old, True, PROSE) == 1


def test_a_question_that_says_much_is_about_a_place_and_not_about_a_whole_file() -> None:
    broad = [signals.breadth(terms) for terms in range(200)]
    assert broad == sorted(broad, reverse=True)
    assert broad[0] == broad[3] == 1 > broad[24] == 0.5 > broad[-1] > 0
    assert signals.coherence(1, 0.5, CODE) == CODE.coherence / 2 == signals.coherence(0.5, 1, CODE)
    assert signals.size(9, 9, 0.5, CODE) == CODE.size / 2


def test_what_a_question_points_at_gains_and_a_frame_the_more_the_nearer_it_is() -> None:
    assert signals.pointed_at(False, 0.0, CODE) == 0
    assert signals.pointed_at(True, 0.0, CODE) == CODE.place
    assert 0 < signals.pointed_at(False, 0.5, CODE) < signals.pointed_at(False, 1.0, CODE) == CODE.frame


def test_tests_and_examples_give_way_unless_they_are_wanted_or_far_better() -> None:
    test, example, code = path_facts("tests/test_door.py"), path_facts("examples/door.py"), path_facts("depot/door.py")

    def role(facts: object, *, tests: bool = False, examples: bool = False, better: float = 0.0) -> float:
        return signals.role(facts, CODE, tests=tests, examples=examples, better=better)  # type: ignore[arg-type]

    assert (role(test), role(example), role(code)) == (CODE.test, CODE.example, 1.0)
    assert (role(test, tests=True), role(example, examples=True)) == (1.0, 1.0)
    assert role(test, better=-1.0) == CODE.test < role(test, better=CODE.lenience / 2) < role(test, better=CODE.lenience) == 1.0
    assert signals.role(test, PROSE, tests=False, examples=False, better=0.0) == 1.0
    assert signals.role(test, replace(CODE, lenience=0.0), tests=False, examples=False, better=1.0) == CODE.test


def test_change_logs_and_translations_give_way_unless_they_are_wanted_or_answer_far_better() -> None:
    log, guide = path_facts("CHANGELOG.md"), path_facts("docs/door.md")

    def page(facts: PathFacts, *, changes: bool = False, translated: bool = False, better: float = 0.0) -> float:
        return signals.page(facts, PROSE, changes=changes, translated=translated, better=better)

    assert (page(log), page(guide), page(log, changes=True)) == (PROSE.changes, 1.0, 1.0)
    assert page(guide, translated=True) == PROSE.translation < page(guide, translated=True, better=0.1) < 1
    assert page(log, translated=True) == PROSE.changes * PROSE.translation
    assert page(log, better=PROSE.lenience) == page(guide, translated=True, better=1.0) == 1.0
    assert signals.page(log, CODE, changes=False, translated=True, better=0.0) == 1.0


def test_files_of_no_known_language_give_way_unless_they_are_far_better() -> None:
    assert signals.oddity(False, CODE, better=0.0) == signals.oddity(True, CODE, better=1.0) == 1.0
    assert signals.oddity(True, CODE, better=-1.0) == CODE.odd < signals.oddity(True, CODE, better=CODE.lenience / 2) < 1


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
