from __future__ import annotations

import pytest

from rag.answering.generators.extractive import describe, question_terms
from rag.answering.generators.members import member_meant
from rag.types import Chunk, ContextChunk, Kind
from tests.answering.material import chunk, result

RUBY = chunk(
    "depot/door.rb",
    40,
    """\
    # Keeps all others out.
    def shut(&block)
      block.call
    end

    # Rings after some minutes.
    def ring(minutes)
      @bell.ring(minutes)
    end
  end""",
    kind=Kind.METHOD,
    language="ruby",
    symbol="Depot.Door.shut",
    signature="def shut(&block)",
    doc="Keeps all others out.",
    defines=("shut", "ring"),
)
HEAD = chunk(
    "depot/flap.py",
    1,
    'class Flap:\n    """A small door for letters."""\n\n    def lift(self):\n        return self.hinge.lift()',
    kind=Kind.METHOD,
    symbol="Flap.lift",
    signature="def lift(self)",
    defines=("Flap", "lift"),
)


def shown(what: Chunk, question: str) -> list[str]:
    return describe(ContextChunk(1, result(1, what)), question_terms(question)).split("\n")


def test_the_definition_that_is_asked_about_gives_its_name() -> None:
    assert shown(RUBY, "after how many minutes does the bell ring?")[:3] == [
        "- **`Depot.Door.ring`** in `depot/door.rb`, lines 40–49 [1]",
        "  `def ring(minutes)`",
        "  Rings after some minutes.",
    ]
    assert shown(RUBY, "how is the door shut?")[0].startswith("- **`Depot.Door.shut`**")
    assert shown(HEAD, "Flap")[:2] == ["- **`Flap`** in `depot/flap.py`, lines 1–5 [1]", "  `class Flap`"]


def test_a_member_of_a_class_that_is_one_chunk_belongs_to_it() -> None:
    text = "interface Lock {\n  // Keeps all others out.\n  shut(): void;\n  open(): void;\n}"
    lock = chunk("lock.ts", 1, text, kind=Kind.CLASS, symbol="Lock", signature="interface Lock", defines=("Lock", "shut", "open"))
    assert shown(lock, "what keeps others out?")[:3] == [
        "- **`Lock.shut`** in `lock.ts`, lines 1–5 [1]",
        "  `shut(): void`",
        "  Keeps all others out.",
    ]


def test_a_sibling_is_no_member_and_a_variable_no_definition() -> None:
    text = "class NoKey(Exception): ...\nclass NoDoor(Exception):\n    door = 3\n\ndef lift(flap):\n    open(flap)\n\ndef open(door): ..."
    errors = chunk("e.py", 1, text, kind=Kind.CLASS, symbol="NoKey", defines=("NoKey", "NoDoor", "door", "lift", "open"))
    assert shown(errors, "NoDoor door")[0].startswith("- **`NoDoor`**")
    assert shown(errors, "open the door")[:2] == ["- **`open`** in `e.py`, lines 1–8 [1]", "  `def open(door): ...`"]


def test_the_chunk_is_called_as_it_is_where_nothing_says_more() -> None:
    nothing = "what colour is it?"
    for what in (RUBY, HEAD):
        assert member_meant(what, lambda text: 0) is None
        assert shown(what, nothing)[0].startswith(f"- **`{what.symbol}`**")


@pytest.mark.parametrize("text", ["", "\n\n", "def", "# def ring", "ring = 3"])
def test_names_that_cannot_be_found_change_nothing(text: str) -> None:
    assert member_meant(chunk("x.rb", 1, text, symbol="shut", defines=("shut", "ring")), len) is None


def test_lines_and_path_stay_those_of_the_chunk() -> None:
    meant = member_meant(RUBY, lambda text: text.count("ring"))
    assert meant is not None
    assert (meant.path, meant.start_line, meant.end_line) == (RUBY.path, RUBY.start_line, RUBY.end_line)
