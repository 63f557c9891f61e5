"""The sentences of a section, as its reader would see them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.generators.sentences import sentences_of


@pytest.mark.parametrize("underline", ["~~~~~~~", "```````", "=======", "-------", '"""""""', "^^^^^^^"])
def test_what_underlines_a_heading_opens_no_code(underline: str) -> None:
    text = f"Lockers\n{underline}\n\nA locker opens once.\n\nThen it is empty."
    assert sentences_of(text, "Lockers", "restructuredtext") == ["A locker opens once.", "Then it is empty."]


def test_a_sentence_is_whole_although_its_lines_are_wrapped_and_begin_with_a_role() -> None:
    text = "If you have set :attr:`Depot.key` (or configured it from\n:data:`DEPOT_KEY`) you can open lockers. It says ``Error: [1]`` else."
    assert sentences_of(text, "", "restructuredtext") == [
        "If you have set :attr:`Depot.key` (or configured it from :data:`DEPOT_KEY`) you can open lockers.",
        "It says ``Error: [1]`` else.",
    ]


def test_every_item_of_a_list_is_by_itself_with_what_continues_it() -> None:
    text = (
        "It says one of these:\n\n- The door\n    is open.\n- [ ] Close the `door`.\n      Lock it too.\n2. Call somebody\n\nAnd wait here."
    )
    assert sentences_of(text, "", "markdown") == [
        "It says one of these:",
        "The door is open.",
        "Close the `door`.",
        "Lock it too.",
        "Call somebody",
        "And wait here.",
    ]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("markdown", "```sh\nopen the door\n```"),
        ("markdown", "~~~\nopen the door\n~~~"),
        ("markdown", "    open the door"),
        ("restructuredtext", ".. code-block:: sh\n\n    open the door"),
        ("asciidoc", "[source,sh]\n----\nopen the door\n----"),
        ("org", "#+begin_src sh\nopen the door\n#+end_src"),
    ],
)
def test_code_is_no_sentence(language: str, code: str) -> None:
    assert sentences_of(f"Say this first.\n\n{code}\n\nSay that last.", "", language) == ["Say this first.", "Say that last."]


def test_headings_fields_tables_and_rules_are_no_sentences() -> None:
    text = "# Doors and locks\n:order: of doors\n.. note:: a word\n| a table | of words |\n***\n<p align=left>\n\nA door has #1 priority."
    assert sentences_of(text, "Doors and locks", "markdown") == ["A door has #1 priority."]


def test_code_whose_beginning_is_in_another_chunk_is_no_sentence() -> None:
    text = "}, open(door) {\n  call the courier\n}\n```\n\nOpen it once. Then\n\n```js\nopen(this door)\n```"
    assert sentences_of(text, "", "markdown") == ["Open it once."]
    assert sentences_of("Open it once.\n\n```js\nopen(this door)\n", "", "markdown") == ["Open it once."]


def test_the_body_of_a_directive_counts_where_nothing_else_stands() -> None:
    assert sentences_of(".. note::\n\n    Doors open\n    inwards.", "", "restructuredtext") == ["Doors open inwards."]


def test_abbreviations_and_small_letters_end_nothing() -> None:
    text = "Use a key, e.g. The Big One, of lib. doors. See J. Doe. 門は開く。次は閉じる。"
    assert sentences_of(text, "", "markdown") == [
        "Use a key, e.g. The Big One, of lib. doors.",
        "See J. Doe.",
        "門は開く。",
        "次は閉じる。",
    ]


@given(
    st.text(alphabet="aB .!?\n\t-*#:`~=[]<1)|+", max_size=300), st.sampled_from(["markdown", "restructuredtext", "asciidoc", "org", "text"])
)
def test_whatever_stands_there_its_words_come_in_order_and_once(text: str, language: str) -> None:
    found = sentences_of(text, "", language)
    assert all(sentence == sentence.strip() and "\n" not in sentence for sentence in found)
    places = [0]
    words = " ".join(text.split())
    for sentence in found:
        at = words.find(sentence.split()[0], places[-1])
        assert at >= 0
        places.append(at)
    assert all(before <= after for before, after in pairwise(places))
