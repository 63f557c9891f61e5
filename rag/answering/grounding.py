"""Checks that code can make on what was written: an identifier quoted in backticks must stand in the lines that were read.

A quotation is grounded if its identifiers stand in the chunks that its statement cites, or else anywhere in the context: a statement may
name what its neighbour's citation shows. Words of the question may be quoted back, and literals of programming languages say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.types import Chunk, ContextChunk

_WORD = re.compile(r"[^\W\d]\w*")
_FEWEST_WORDS = 4
_LITERAL_WORDS = """
true false none null nil undefined self this cls void int str float bool string number list dict tuple set bytes object array map
"""
_LITERALS = frozenset(_LITERAL_WORDS.split())


def ungrounded(quotations: Iterable[str], cited: Sequence[ContextChunk], context: Sequence[ContextChunk], question: str = "") -> list[str]:
    """The quotations, in order and once each, that hold an identifier which stands in no chunk that was read."""
    asked = set(_WORD.findall(question))
    missing: list[str] = []
    for quotation in dict.fromkeys(quotations):
        names = {name for name in _WORD.findall(quotation) if len(name) > 1 and name.lower() not in _LITERALS} - asked
        if names and not (names <= _words(cited) or names <= _words(context)):
            missing.append(quotation)
    return missing


def uncited_paragraphs(text: str) -> int:
    """How many paragraphs and list items of an answer say something without a footnote. Code, headings and lines that introduce what
    follows ("In two steps:") do not count."""
    prose = re.sub(r"^```.*?^```$", "\n", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)", prose)
    return sum(
        len(_WORD.findall(paragraph)) >= _FEWEST_WORDS
        and not re.search(r"\[\d+\]", re.sub(r"`[^`\n]*`", "", paragraph))
        and not paragraph.rstrip(" \n*_").endswith(":")
        and not paragraph.lstrip().startswith("#")
        for paragraph in paragraphs
    )


def _words(chunks: Sequence[ContextChunk]) -> set[str]:
    return {word for entry in chunks for word in _WORD.findall(_readable(entry.result.chunk))}


def _readable(chunk: Chunk) -> str:
    """All that is known of what stands in a chunk; a part of a long definition has its header from above."""
    return "\n".join((chunk.path, chunk.symbol, chunk.scope, chunk.signature, chunk.doc, chunk.text))
