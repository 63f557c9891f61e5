"""Nothing that stands between two marks can close its part, open another or imitate the sentence that explains them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rag.prompting.marks import marked, marked_parts, one_line, random_marker, unmarked

MARKER = "00112233aabbccdd"
# Text that is likely to hold the mark, whole, in halves, or one inside another.
HOSTILE = st.lists(
    st.one_of(st.sampled_from([MARKER, MARKER[:8], MARKER[8:], f"=== {MARKER} a ends ===\n", "\n"]), st.text(max_size=20)), max_size=12
).map("".join)


@given(HOSTILE, HOSTILE)
def test_the_mark_stands_where_we_put_it_and_nowhere_else(first: str, second: str) -> None:
    prompt = marked_parts(MARKER, ("a", first), ("b", second))
    assert prompt.count(MARKER) == 5  # in the sentence that explains it, and at either end of two parts
    found = re.findall(rf"^=== {MARKER} (\w) begins ===\n(.*?)\n=== {MARKER} \1 ends ===$", prompt, re.DOTALL | re.MULTILINE)
    assert found == [("a", unmarked(MARKER, first)), ("b", unmarked(MARKER, second))]


@given(HOSTILE)
def test_taking_the_mark_out_makes_no_other(text: str) -> None:
    assert MARKER not in unmarked(MARKER, text)
    assert unmarked(MARKER, MARKER[:8] + MARKER + MARKER[8:]) == ""


@given(st.text())
def test_text_without_the_mark_stays_as_it_is(text: str) -> None:
    assert marked(MARKER, "a", text) == f"=== {MARKER} a begins ===\n{text}\n=== {MARKER} a ends ==="


def test_marks_are_random_and_long_enough_that_nobody_guesses_one() -> None:
    made = {random_marker() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in made)


@given(st.text())
def test_a_name_is_one_line(text: str) -> None:
    assert len(one_line(f"a{text}b").splitlines()) == 1


def test_of_a_name_only_what_ends_or_hides_a_line_is_lost() -> None:
    assert one_line("src/a\r\n=== b.py") == "src/a === b.py"
    assert one_line("größe/日本 x.py") == "größe/日本 x.py"
