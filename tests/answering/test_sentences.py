from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag.answering.generators.sentences import sentences_of


def test_items_of_a_list_are_sentences_of_their_own() -> None:
    text = "1.2\n\n* Doors open twice as fast\n  as before\n* A courier needs a badge\n- Lamps\n2. Bells ring. Twice."
    assert sentences_of(text, "1.2") == [
        "Doors open twice as fast as before".replace(" as b", "\nas b"),
        "A courier needs a badge",
        "Bells ring.",
    ]


def test_code_whose_beginning_is_in_another_chunk_is_no_sentence() -> None:
    text = "}, open(door) {\n  call the courier\n}\n```\n\nOpen it once. Then\n\n```js\nopen(this door)\n```"
    assert sentences_of(text, "") == ["Open it once."]
    assert sentences_of("Open it once.\n\n```js\nopen(this door)\n", "") == ["Open it once."]


def test_indented_text_counts_where_there_is_no_other() -> None:
    assert sentences_of(".. note::\n\n    Doors open twice.", "") == ["Doors open twice."]
    assert sentences_of("Doors open twice.\n\n    open(this door)", "") == ["Doors open twice."]


@given(st.text(alphabet="ab `#*-.\n~1", max_size=60))
def test_any_text_has_sentences_or_none(text: str) -> None:
    assert all(sentence.strip() for sentence in sentences_of(text, "a"))
