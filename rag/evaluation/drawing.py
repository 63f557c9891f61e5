"""Draws questions from what an index holds: headings, first sentences of documentation, and doc comments.

A question made of a text is found by that text, so its figures are optimistic: each carries, under `blank`, the lines that its words were
taken from, and `footnote eval --blank` asks an index without these words in these lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rag.source.languages import PROSE
from rag.types import Chunk, Kind

KINDS = ("heading", "sentence", "comment")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LOG_OR_LEGAL = re.compile(
    r"(?:^|/)(?:change|history|news|release|licen[sc]e|copying|notice|authors|contribut|code.of.conduct|security|upgrad)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bv?\d+\.\d+|\b\d{4}-\d\d-\d\d\b|\{\{|</|https?:")
_MARKUP = re.compile(r"^\s*(?:[-*+>|<!\[`=~^.:#]|\d+[.)]\s|    |\t)")
_END = re.compile(r"[.!?](?=\s|$)")
_WORDS = {"heading": (2, 12), "sentence": (6, 40), "comment": (4, 30)}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question that a chunk suggests. `start`, `end`: the lines that answer it. `blank`: the lines that hold its words."""

    text: str
    kind: str  # of KINDS
    path: str
    language: str
    start: int
    end: int
    blank: tuple[int, int]


def draw(chunks: Iterable[Chunk], count: int, seed: int = 0, kinds: Sequence[str] = KINDS) -> list[Drawn]:
    """Up to `count` questions, as many of each kind as there are, no two alike and at most three from one file. The same seed draws the same.

    Left out: change logs, licences and the like; texts that stand more than once, for nobody could say which is meant.
    """
    found: dict[str, list[Drawn]] = {kind: [] for kind in kinds}
    for one in _candidates(chunks):
        if one.kind in found:
            found[one.kind].append(one)
    drawn: list[Drawn] = []
    files: Counter[str] = Counter()
    # The kind with the least goes first, so that the others can make up for it.
    for number, kind in enumerate(sorted(kinds, key=lambda kind: len(found[kind]))):
        share = (count - len(drawn)) // (len(kinds) - number)
        texts = Counter(one.text.lower() for one in found[kind])
        unique = [one for one in found[kind] if texts[one.text.lower()] == 1]
        Random(f"{seed} {kind}").shuffle(unique)  # noqa: S311 - a draw, no secret
        taken: list[Drawn] = []
        for one in unique:
            if len(taken) == share:
                break
            if files[one.path] < 3:
                files[one.path] += 1
                taken.append(one)
        drawn += taken
    return drawn


def _candidates(chunks: Iterable[Chunk]) -> Iterator[Drawn]:
    seen: set[tuple[str, str]] = set()  # a definition in several chunks has the same comment in each
    for chunk in chunks:
        if _LOG_OR_LEGAL.search(chunk.path):
            continue
        for one in _of_prose(chunk) if chunk.language in PROSE - {"text"} else _of_code(chunk):
            key = (one.path, one.text)
            if key not in seen and _fits(one):
                seen.add(key)
                yield one


def _fits(one: Drawn) -> bool:
    least, most = _WORDS[one.kind]
    return least <= len(_WORD.findall(one.text)) <= most and not _VERSION.search(one.text)


def _of_prose(chunk: Chunk) -> Iterator[Drawn]:
    """The heading that a section begins with, and the first sentence below it."""
    lines = chunk.text.split("\n")
    heading = (chunk.defines or (chunk.symbol,))[0] if chunk.kind is Kind.SECTION else ""
    title = next((n for n, line in enumerate(lines[:4]) if heading and _words(heading) and _words(heading) <= _words(line)), None)
    if title is not None and len([line for line in lines[title + 1 :] if _WORD.search(line)]) >= 2:
        number = chunk.start_line + title
        yield Drawn(heading, "heading", chunk.path, chunk.language, chunk.start_line, chunk.end_line, (number, number))
    first = 0 if title is None else title + 1
    for number in range(first, len(lines)):
        if not lines[number].strip() or _MARKUP.match(lines[number]):
            continue
        paragraph: list[str] = []
        for line in lines[number : number + 6]:
            if not line.strip():
                break
            paragraph.append(line.strip())
            joined = " ".join(paragraph)
            if end := _END.search(joined):
                last = chunk.start_line + number + len(paragraph) - 1
                text = joined[: end.end()]
                if last < chunk.end_line:  # something is left to find
                    yield Drawn(
                        text, "sentence", chunk.path, chunk.language, chunk.start_line, chunk.end_line, (chunk.start_line + number, last)
                    )
                return
        return


def _of_code(chunk: Chunk) -> Iterator[Drawn]:
    """The first sentence of a definition's comment, where all of it stands in the chunk."""
    wanted = _words(chunk.doc)
    if not wanted or chunk.kind in (Kind.LINES, Kind.SECTION):
        return
    lines = chunk.text.split("\n")
    for start in range(len(lines)):
        held: set[str] = set()
        if not _words(lines[start]) & wanted:
            continue
        for end in range(start, min(start + 6, len(lines))):
            held |= _words(lines[end])
            if wanted <= held:
                numbers = (chunk.start_line + start, chunk.start_line + end)
                yield Drawn(chunk.doc, "comment", chunk.path, chunk.language, chunk.start_line, chunk.end_line, numbers)
                return


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}
