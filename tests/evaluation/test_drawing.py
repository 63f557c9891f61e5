"""Questions drawn from headings, documentation and comments: the same each time, none ambiguous, each with the lines of its words."""

from __future__ import annotations

import re

import pytest

from rag.chunking import ChunkingSettings, make_chunker
from rag.evaluation.drawing import KINDS, draw
from rag.source.languages import language_of
from rag.types import Chunk, Document

GUIDE = """# Guide

## Signing the session cookie

A session cookie is signed with the secret key of the application. It is never
encrypted, so do not keep secrets in it.

Another paragraph stands here, to be found.

## Reading configuration files

Configuration files are read once, when the application starts. Later changes are
ignored until then.

More is said about files here.

## Installation

of several parts that stand in a list above. And more of
the same is said here.

## v1.2.3 released on a Monday

Nothing of note happened in this release, they say. Yet something was written.
"""
CODE = '''"""Sessions."""


def sign(value, key):
    """Signs a session value with the secret key.

    Never raises.
    """
    return value + key


def read(value, key):
    """Reads a session value back from the client."""
    return value
'''


def _chunks(files: dict[str, str]) -> list[Chunk]:
    chunker = make_chunker(lambda text: len(text.split()) + 2, ChunkingSettings(max_chars=300, min_chars=20))
    return [chunk for path, text in files.items() for chunk in chunker.chunk(Document(path, text, language_of(path), ""))]


FILES = {"docs/guide.md": GUIDE, "src/session.py": CODE}


def test_each_kind_with_its_place_and_the_lines_of_its_words() -> None:
    drawn = draw(_chunks(FILES), 30)
    found = {one.text: one for one in drawn}
    assert {one.kind for one in drawn} == set(KINDS)
    heading = found["Signing the session cookie"]
    assert (heading.kind, heading.path, heading.blank) == ("heading", "docs/guide.md", (3, 3))
    sentence = found["A session cookie is signed with the secret key of the application."]
    assert (sentence.kind, sentence.blank) == ("sentence", (5, 5))
    comment = found["Signs a session value with the secret key."]
    assert (comment.kind, comment.path, comment.blank) == ("comment", "src/session.py", (5, 5))
    for one in drawn:
        lines = FILES[one.path].split("\n")
        assert one.start <= one.blank[0] <= one.blank[1] <= one.end
        words = set(re.findall(r"\w+", one.text.lower()))
        assert words <= set(re.findall(r"\w+", " ".join(lines[one.blank[0] - 1 : one.blank[1]]).lower()))


def test_what_nobody_could_answer_is_left_out() -> None:
    found = {one.text for one in draw(_chunks(FILES), 30)}
    assert "Installation" not in found  # one word
    assert not any("1.2.3" in text for text in found)
    assert not any(text.startswith("of several parts") for text in found)  # the middle of a sentence
    logs = {f"{name}.md": GUIDE for name in ("CHANGELOG", "docs/history", "LICENSE", "docs/release-notes")}
    assert draw(_chunks(logs), 30) == []
    twice = {"docs/a.md": GUIDE, "docs/b.md": GUIDE}
    assert draw(_chunks(twice), 30) == []


def test_the_same_seed_draws_the_same_another_seed_others() -> None:
    many = {
        f"docs/p{number}.md": f"# The part number {chr(97 + number)}\n\nText about {chr(97 + number)}.\n\nMore text.\n"
        for number in range(20)
    }
    chunks = _chunks(many)
    first = draw(chunks, 6, 1, ["heading"])
    assert len(first) == 6
    assert draw(chunks, 6, 1, ["heading"]) == first
    assert draw(list(reversed(chunks)), 6, 1, ["heading"]) != draw(chunks, 6, 2, ["heading"])


@pytest.mark.parametrize("count", [1, 2, 7])
def test_never_more_than_asked_for_nor_than_three_of_a_file(count: int) -> None:
    drawn = draw(_chunks(FILES), count)
    assert len(drawn) <= count
    assert all(sum(one.path == path for one in drawn) <= 3 for path in FILES)
