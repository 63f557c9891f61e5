"""What commits say, counted: by hand, in one pass and in two, and whatever a file holds of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from rag.index import messages
from rag.index.messages import Messages, MessageTally, message_terms
from rag.source.history.changes import Change

PATHS = ("a.py", "b/c.py", "b/d.py", "e")
WORDS = ("door", "hinge", "parcel", "courier", "lock")


def heard(changes: list[Change], paths: tuple[str, ...] = PATHS, former: Messages | None = None) -> Messages:
    tally = MessageTally(paths, former)
    for change in changes:
        tally.add(change)
    if former is not None:
        tally.continues()
    found = tally.messages()
    found.check()
    return found


def told(found: Messages) -> list[tuple[Counter[str], set[str], int]]:
    """Of each commit its terms, its files that stand, and how many it touched."""
    rows = []
    for row in range(len(found)):
        terms, files = slice(*found.starts[row : row + 2]), slice(*found.touched_starts[row : row + 2])
        counted = Counter(
            {found.terms[column]: int(count) for column, count in zip(found.columns[terms], found.counts[terms], strict=True)}
        )
        rows.append((counted, {found.paths[number] for number in found.touched[files]}, int(found.spread[row])))
    return rows


def change(message: str, *paths: str) -> Change:
    return Change("1" * 40, 1_600_000_000, "Ana", paths, message)


def test_the_first_line_counts_twice_and_of_the_rest_only_the_beginning() -> None:
    assert Counter(message_terms("Mend doors\n\nThe door stuck.\n\nSigned-off-by: Ana <a@example.org>")) == {
        "mend": 2,
        "door": 3,
        "the": 1,
        "stuck": 1,
    }
    assert message_terms("x\n\n" + "word " * 1_000) == ["x", "x", *["word"] * 200]


def test_commits_without_a_file_that_stands_and_those_that_touch_everything_are_left_out() -> None:
    found = heard(
        [
            change("Mend", "a.py", "gone.py"),
            change("Delete", "gone.py"),
            change("Reformat", "a.py", *(f"{number}.py" for number in range(messages.MOST_TOUCHED))),
            change("", "e"),
        ]
    )
    assert told(found) == [(Counter({"mend": 2}), {"a.py"}, 2), (Counter(), {"e"}, 1)]


CHANGES = st.lists(
    st.builds(
        change,
        st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
        st.sampled_from((*PATHS, "gone.py")),
    )
    | st.builds(change, st.sampled_from(WORDS), *[st.just(path) for path in PATHS]),
    max_size=12,
)


@settings(max_examples=80, deadline=None)
@given(CHANGES, st.integers(0, 12), st.integers(1, 12), st.permutations(PATHS))
def test_a_pass_that_continues_another_says_what_one_says(commits: list[Change], divided: int, most: int, order: list[str]) -> None:
    former_most = messages.MOST
    messages.MOST = most
    try:
        paths = tuple(order[:3])
        whole = heard(commits, paths)
        older = heard(commits[divided:], ("other", *PATHS))
        continued = heard(commits[:divided], paths, older)
    finally:
        messages.MOST = former_most
    # The earlier pass knew files that are gone since, and kept as many commits as it may: of these some count no more.
    assert told(continued) == told(whole)[: len(continued)]
    assert len(continued) == len(whole) or len(commits) > most
    assert len(whole) <= most
    assert set(continued.terms) == {term for counted, _, _ in told(continued) for term in counted}


@settings(max_examples=40, deadline=None)
@given(CHANGES.filter(bool))
def test_its_weights_are_those_of_rank_bm25(commits: list[Change]) -> None:
    found = heard(commits)
    rows = [list(counted.elements()) for counted, _, _ in told(found)]
    if not any(rows):
        return
    words = list(WORDS[:3])
    expected = BM25Okapi([[term for term in found.terms for _ in range(row.count(term))] for row in rows]).get_scores(words)
    assert found.weighed().scores(words) == pytest.approx(np.asarray(expected))


def test_nothing_said_is_no_error() -> None:
    for found in (heard([]), heard([], ()), heard([], PATHS, heard([])), heard([change("", "e")])):
        assert not found.weighed().scores(["door"]).any()


@pytest.mark.parametrize(
    "damage",
    [
        {"starts": np.array([0, 1])},
        {"starts": np.array([0, 3, 2])},
        {"columns": np.array([0, 7], dtype=np.int32)},
        {"columns": np.array([0, -1], dtype=np.int32)},
        {"counts": np.array([1], dtype=np.int32)},
        {"counts": np.array([1, 0], dtype=np.int32)},
        {"touched": np.array([0, 9], dtype=np.int32)},
        {"touched_starts": np.array([0, 1, 7])},
        {"spread": np.array([1], dtype=np.int32)},
        {"spread": np.array([1, 0], dtype=np.int32)},
        {"terms": ("door", "door")},
        {"paths": ()},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_parts_that_do_not_belong_together_are_told(damage: dict[str, object]) -> None:
    whole = heard([change("door", "a.py"), change("hinge", "e")])
    values = {name: getattr(whole, name) for name in Messages.__slots__}
    Messages(**values).check()
    with pytest.raises(ValueError, match="belong together"):
        Messages(**{**values, **damage}).check()
