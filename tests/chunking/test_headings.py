"""Prose: which lines are headings, and which chunk is named after which."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.chunking.headings import outline_by_headings
from rag.types import Chunk, Kind

Cut = Callable[[str, str], list[Chunk]]

PARAGRAPH = "Some words of a sentence that says something about the matter at hand. " * 12


def headings(language: str, text: str) -> list[tuple[str, str]]:
    return [(section.scope, section.name) for section in outline_by_headings(text.split("\n"), language).definitions]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\ntext\n\n## B\n\n### C\n\n## D\n\n# E", [("", "A"), ("A", "B"), ("A > B", "C"), ("A", "D"), ("", "E")]),
        ("Title\n=====\n\ntext\n\nPart\n----\n\nmore", [("", "Title"), ("Title", "Part")]),
        ("# A #\n## B ##  \n#No\n####### No\n    # No", [("", "A"), ("A", "B")]),
        ("# A\n```sh\n# comment\n```\n~~~\n# no\n```\n# no\n~~~\n# B", [("", "A"), ("", "B")]),
        ("# A\n````\n```\n# no\n````\n# B", [("", "A"), ("", "B")]),
        ("# A\n```never closed\n# no", [("", "A")]),
        ("---\ntitle: x\n# no\n---\n# A", [("", "A")]),
        ("# A\n<!--\n# no\n-->\n# B", [("", "A"), ("", "B")]),
        ("# The `code` of [a link](http://x/y) **bold**", [("", "The code of a link bold")]),
        ("- item\n---\n\n| a | b |\n---\n\ntwo\nlines\n---", []),
        ("#\n\n#   \n# A", [("", "A")]),
    ],
)
def test_headings_of_markdown(text: str, found: list[tuple[str, str]]) -> None:
    assert headings("markdown", text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Title\n=====\n\ntext\n\nPart\n----\n\nDeep\n~~~~\n\nOther\n-----\n",
         [("", "Title"), ("Title", "Part"), ("Title > Part", "Deep"), ("Title", "Other")]),
        ("=====\nTitle\n=====\n\nPart\n=====\n\ntext", [("", "Title"), ("Title", "Part")]),
        ("A :class:`Flask` object\n======================\n", [("", "A Flask object")]),
        ("Title\n===\n\ntext", []),
        ("text\n\n::\n\n    Indented\n    --------\n\n====  ====\na     b\n====  ====\n", []),
        ("Part\n----\n\nlast words\nof a paragraph\n--------------", [("", "Part")]),
    ],
)  # fmt: skip
def test_headings_of_restructured_text(text: str, found: list[tuple[str, str]]) -> None:
    assert headings("restructuredtext", text) == found


def test_a_section_that_fits_is_one_chunk_named_after_its_heading(cut: Cut) -> None:
    chunks = cut("markdown", f"# Guide\n\n{PARAGRAPH}\n\n## Install\n\n{PARAGRAPH}\n\n## Use\n\n{PARAGRAPH}\n")
    assert [(chunk.symbol, chunk.scope, chunk.defines) for chunk in chunks] == [
        ("Guide", "", ("Guide",)),
        ("Install", "Guide", ("Install",)),
        ("Use", "Guide", ("Use",)),
    ]
    assert {chunk.kind for chunk in chunks} == {Kind.SECTION}
    assert chunks[1].text.startswith("## Install")


def test_small_sections_are_merged(cut: Cut) -> None:
    chunks = cut("markdown", "# Guide\n\n" + "\n".join(f"## Part {n}\n\nShort.\n" for n in range(6)))
    assert len(chunks) == 1
    assert chunks[0].symbol == "Guide"
    assert chunks[0].defines == ("Guide", *(f"Part {n}" for n in range(6)))


def test_a_long_section_is_cut_between_paragraphs_and_keeps_its_heading(cut: Cut) -> None:
    chunks = cut("markdown", "# Guide\n\n## Long\n\n" + "\n\n".join(f"Paragraph {n}. {PARAGRAPH}" for n in range(6)))
    assert len(chunks) > 2
    assert [chunk.symbol for chunk in chunks[1:]] == ["Long"] * (len(chunks) - 1)
    assert all(chunk.text.startswith("Paragraph") for chunk in chunks[1:])


def test_fenced_code_is_not_torn_apart_while_it_fits(cut: Cut) -> None:
    code = "```python\n" + "\n".join(f"value_{n} = compute({n})\n" for n in range(12)) + "```"
    chunks = cut("markdown", f"# Guide\n\n{PARAGRAPH}\n\n{code}\n\n{PARAGRAPH}\n\n{code}\n")
    assert sum(chunk.text.count(code) for chunk in chunks) == 2


def test_text_before_the_first_heading_has_no_name(cut: Cut) -> None:
    chunks = cut("markdown", "\n\n".join([PARAGRAPH] * 3) + "\n\n# Later\n\n" + PARAGRAPH)
    assert (chunks[0].symbol, chunks[0].kind) == ("", Kind.SECTION)
    assert chunks[-1].symbol == "Later"
