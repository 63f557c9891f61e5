from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.draft import Draft
from tests.answering.material import COMMIT, context


def write(text: str, count: int = 3, size: int = 5) -> Draft:
    draft = Draft(context(count), COMMIT, "how does route work?")
    for start in range(0, len(text), size):
        draft.feed(text[start : start + size])
    draft.close()
    return draft


def test_footnotes_are_numbered_in_order_of_appearance_and_resolved_by_code() -> None:
    draft = write("First [3]. Second [1], again [3].")
    assert draft.text == "First [1]. Second [2], again [1]."
    assert [(c.number, c.path, c.start_line, c.end_line) for c in draft.citations] == [
        (1, "src/file3.py", 30, 31),
        (2, "src/file1.py", 10, 11),
    ]
    assert {c.commit for c in draft.citations} == {COMMIT}
    assert draft.citations[0].permalink.endswith(f"{COMMIT}/src/file3.py#L30-L31")
    assert draft.citations[0].chunk_id == context()[2].result.chunk.id


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("A [1, 3].", "A [1][2]."),
        ("A [1,3].", "A [1][2]."),
        ("A [1; 3].", "A [1][2]."),
        ("A [1 and 3].", "A [1][2]."),
        ("A [1-3].", "A [1][2][3]."),
        ("A [1–2].", "A [1][2]."),
        ("A [1][3].", "A [1][2]."),
        ("A [1] [3].", "A [1][2]."),
        ("A [1][1].", "A [1]."),
        ("A [^2].", "A [1]."),
        ("A [#2].", "A [1]."),
        ("A [chunk 2].", "A [1]."),
        ("A 【2】.", "A [1]."),
        ("A 【2†L1-L5】.", "A [1]."),
        ("A[2].", "A[1]."),
        ("A [ 2 ].", "A [1]."),
    ],
)
def test_every_way_of_writing_a_citation(written: str, shown: str) -> None:
    for size in (1, 2, 3, 100):
        draft = write(written, size=size)
        assert (draft.text, draft.dropped) == (shown, 0)


def test_numbers_outside_the_context_are_dropped_and_counted() -> None:
    draft = write("A [1]. B [9]. C [0, 2, 77]. D [4-6].")
    assert draft.text == "A [1]. B. C [2]. D."
    assert draft.dropped == 1 + 2 + 3
    assert len(draft.citations) == 2


def test_a_range_of_millions_is_not_walked() -> None:
    assert write("A [1-999999999].").dropped == 1


def test_an_index_into_an_array_is_code_and_no_citation() -> None:
    draft = write("It reads `x[1]` and ``y[2]`` [3].\n```py\nz[1] = a[9]\n```\nDone [3].")
    assert [c.path for c in draft.citations] == ["src/file3.py"]
    assert "`x[1]` and `y[2]` [1]" in draft.text
    assert "z[1] = a[9]" in draft.text
    assert draft.dropped == 0


def test_nothing_leaves_before_a_citation_holds() -> None:
    draft = Draft(context(), COMMIT, "q")
    assert draft.feed("Intro without any.\nInvented [9].\n") == []
    pieces = draft.feed("Real [2].\nNext")
    assert [piece.text for piece in pieces] == ["Intro without any.\n", "Invented.\n", "Real [1].\n"]
    assert [len(piece.citations) for piece in pieces] == [0, 0, 1]
    assert [piece.text for piece in draft.close()] == ["Next"]


def test_without_a_citation_that_holds_nothing_is_shown() -> None:
    draft = write("Confident. Very [9]. Still [12].")
    assert not draft.shown
    assert (draft.text, draft.citations, draft.dropped) == ("", (), 2)


def test_a_model_that_declines_and_goes_on_is_taken_at_its_word() -> None:
    assert not write("NOT IN CONTEXT: but I believe that [1] holds. Also [2].").shown
    assert not write("**not in context**\n\nMaybe [1].").shown


def test_a_statement_that_is_only_an_invented_number_vanishes() -> None:
    draft = write("A [1].\n[9]\nB.\n")
    assert draft.text == "A [1].\nB."


@given(
    st.lists(
        st.sampled_from(["A ", "x[1] ", "[1]", "[2, 9]", "[10]", "`[3]`", ".\n", "Then ", "[1-4]", "【3】", "[", "]", "`", "(", ")", ":"]),
        max_size=40,
    ).map("".join)
)
def test_every_number_shown_outside_code_is_a_footnote_that_exists(text: str) -> None:
    import re

    draft = write(text)
    outside = re.sub(r"```.*?```|`[^`]*`", "", draft.text, flags=re.DOTALL)
    shown = [int(number) for number in re.findall(r"\[(\d+)\]", outside)]
    numbers = [c.number for c in draft.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert list(dict.fromkeys(shown)) == numbers
    assert {c.chunk_id for c in draft.citations} <= {entry.result.chunk.id for entry in context()}


def test_a_footnote_in_a_link_that_is_taken_out_stays() -> None:
    for text, shown in (("See [this](x[1]) now.", "this (link removed)[1]"), ("A <https://x[1]|label> B.", "label (link removed)[1]")):
        draft = write(text)
        assert shown in draft.text
        assert [citation.number for citation in draft.citations] == [1]


def test_secrets_are_redacted_on_their_way_out() -> None:
    token = "ghp_" + "a1B2" * 9
    draft = write(f"The token is {token} [1].\n```\nkey = '{token}'\n```\n", size=3)
    assert token not in draft.text
    assert draft.text.count("[redacted:") == 2


def test_reading_stops_at_the_limit() -> None:
    draft = Draft(context(), COMMIT, "q", most_chars=100)
    draft.feed("A [1].\n")
    draft.feed("b" * 1000)
    draft.close()
    assert draft.full
    assert len(draft.text) <= 110
