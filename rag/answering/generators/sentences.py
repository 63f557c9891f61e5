"""The sentences of a section of prose, whole although its lines are wrapped, without its markup, its headings and its code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Lines that are no sentences: headings, directives, fields, HTML, tables, images, attributes, where links lead.
_MARKUP = re.compile(r"\s*(?:#+(?:\s|$)|#\+|\.\. |:[\w-][^:`]*:(?:\s|$)|<|\||!\[|\[[^\]]*\](?::\s|\s*$)|=[a-z]+\d?(?:\s|$)|={2,6}\s|//)")
_RULE = re.compile(r"\s*([^\w\s])\1{2,}\s*$")  # a rule, or what underlines a heading
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
_INDENTED = re.compile(r"(?: {3,}|\t)\S")
_BACKTICKS = r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)"
_CODE = {  # blocks of code between two marks; in reStructuredText it is indented, and the same marks underline headings
    "restructuredtext": None,
    "asciidoc": re.compile(
        r"(?:\A|(?<=\n\n)|(?<=\]\n)|(?<=\+\n))(-{4,}|\.{4,}|`{3,})[^\n]*\n.*?(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
    ),
    "org": re.compile(r"^[ \t]*#\+begin_(\w+).*?(?:^[ \t]*#\+end_\1|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE),
}
_OTHERWISE = re.compile(_BACKTICKS, re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(.*)$", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])[\"'”’)*_]{0,2}\s+(?=[\"'“‘`(\[*_]{0,3}[^\W_a-z])|(?<=[。！？])\s*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|No|St|approx|resp)\.|\b[A-Z]\.)$")
_TWO_WORDS = re.compile(r"\w{2}\W+\w|[^\W\d_a-zA-Z]{4}")  # of a script without spaces four letters


def sentences_of(text: str, heading: str, language: str) -> list[str]:
    """In their order, each on one line. Indented text counts only where there is no other: it is mostly code, but the body of a directive
    in reStructuredText. Of a list every item is by itself. `language`: as `Chunk.language`."""
    blocks = _CODE.get(language, _OTHERWISE)
    if blocks is _OTHERWISE:
        text = _from_its_fence(text)
    lines = (blocks.sub("\n", text) if blocks else text).split("\n")
    return _sentences(lines, heading, indented=False) or _sentences(lines, heading, indented=True)


def _from_its_fence(text: str) -> str:
    """Without what stands before the end of a block of code whose beginning is in another chunk: the first fence names no language, and
    there is one too many."""
    fences = list(_FENCE.finditer(text))
    return text[fences[0].end() :] if len(fences) % 2 and not fences[0][1] else text


def _sentences(lines: list[str], heading: str, *, indented: bool) -> list[str]:
    return [
        sentence
        for paragraph in _paragraphs(lines, heading, indented=indented)
        for sentence in _split(paragraph)
        if _TWO_WORDS.search(sentence)
    ]


def _paragraphs(lines: list[str], heading: str, *, indented: bool) -> Iterator[str]:
    paragraph: list[str] = []
    in_item = False
    for line in lines:
        item = _ITEM.match(line)
        apart = not line.strip() or _RULE.match(line) or _MARKUP.match(line) or line.strip() == heading
        code = _INDENTED.match(line) is not None and not (indented or in_item)
        if (apart or item or code) and paragraph:
            yield " ".join(paragraph)
            paragraph = []
        in_item = not code and not apart and (item is not None or in_item)
        if not apart and not code:
            paragraph.append(line[item.end() :].strip() if item else line.strip())
    if paragraph:
        yield " ".join(paragraph)


def _split(paragraph: str) -> Iterator[str]:
    begun = 0
    for end in _END.finditer(paragraph):
        if not _ABBREVIATION.search(paragraph[begun : end.start()]):
            yield paragraph[begun : end.end()].strip()
            begun = end.end()
    if rest := paragraph[begun:].strip():
        yield rest
