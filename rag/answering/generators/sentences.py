"""What a section of prose says in sentences, and not in code, tables, pictures or directives."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"\s*(?:#|[=~^*-]{3,}|=[a-z]+\d?(?:\s|$)|```|\.\. |:\w+:|<|\||!\[)")  # lines that are no sentences
_INDENTED = re.compile(r"(?: {3,}|\t)\S")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(.*)$", re.MULTILINE)
_ITEM = re.compile(r"^(?:[*+-]|\d{1,3}[.)])[ \t]+", re.MULTILINE)


def sentences_of(text: str, heading: str) -> list[str]:
    """In their order, each item of a list apart. Indented text counts only where there is no other: it is mostly code, but the body of a
    directive in reStructuredText."""
    text = _FENCED.sub("\n", _from_its_fence(text))
    return _sentences(text, heading, indented=False) or _sentences(text, heading, indented=True)


def _from_its_fence(text: str) -> str:
    """Without what stands before the end of a block of code whose beginning is in another chunk: the first fence names no language, and
    there is one too many."""
    fences = list(_FENCE.finditer(text))
    return text[fences[0].end() :] if len(fences) % 2 and not fences[0][1] else text


def _sentences(text: str, heading: str, *, indented: bool) -> list[str]:
    lines = (
        "" if _MARKUP.match(line) or line.strip() == heading or (_INDENTED.match(line) and not indented) else line
        for line in text.split("\n")
    )
    paragraphs = re.split(r"\n{2,}", _ITEM.sub("\n\n", "\n".join(line.strip() for line in lines)))
    sentences = (sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.!?:])\s+", paragraph.strip()))
    return [sentence for sentence in sentences if re.search(r"\w{2}\W+\w", sentence)]
