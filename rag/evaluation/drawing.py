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

from rag.types import Chunk, Kind

BY_HEADING = frozenset({"markdown", "restructuredtext"})  # languages whose sections say what they are about
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
    """Up to `count` questions, as many of each kind as there are, no two alike, at most three of a file. The same seed draws the same.

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
        for one in _of_prose(chunk) if chunk.language in BY_HEADING else _of_code(chunk):
            key = (one.path, one.text)
            if key not in seen and _fits(one):
                seen.add(key)
                yield one


def _fits(one: Drawn) -> bool:
    least, most = _WORDS[one.kind]
    begins = one.kind != "sentence" or one.text[0].isupper() or one.text[0] in "`*_"  # else it is the middle of one
    return begins and least <= len(_WORD.findall(one.text)) <= most and not _VERSION.search(one.text)


def _of_prose(chunk: Chunk) -> Iterator[Drawn]:
    """Of each section in the chunk its heading and the first sentence below it."""
    lines = chunk.text.split("\n")
    titles: list[tuple[int, str]] = []
    for heading in chunk.defines if chunk.kind is Kind.SECTION else ():
        after = titles[-1][0] + 1 if titles else 0
        wanted = _words(heading)
        row = next((row for row in range(after, len(lines)) if wanted and wanted <= _words(lines[row])), None)
        if row is not None:
            titles.append((row, heading))
    begins = [row for row, _ in titles]
    for number, (row, heading) in enumerate(titles or [(-1, "")]):
        end = begins[number + 1] - 1 if number + 1 < len(begins) else len(lines) - 1
        first, last = chunk.start_line + max(row, 0), chunk.start_line + end
        if heading and sum(bool(_WORD.search(line)) for line in lines[row + 1 : end + 1]) >= 2:
            yield Drawn(heading, "heading", chunk.path, chunk.language, first, last, (chunk.start_line + row, chunk.start_line + row))
        if found := _first_sentence(lines, row + 1, end):
            text, begin, stop = found
            if stop < end:  # something is left to find
                blank = (chunk.start_line + begin, chunk.start_line + stop)
                yield Drawn(text, "sentence", chunk.path, chunk.language, first, last, blank)


def _first_sentence(lines: Sequence[str], begin: int, end: int) -> tuple[str, int, int] | None:
    """The first sentence of the first plain paragraph in rows begin..end, and the rows it stands in."""
    for row in range(begin, end + 1):
        if not lines[row].strip() or _MARKUP.match(lines[row]):
            continue
        joined = ""
        for stop in range(row, min(row + 6, end + 1)):
            if not lines[stop].strip():
                return None
            joined = f"{joined} {lines[stop].strip()}".strip()
            if found := _END.search(joined):
                return joined[: found.end()], row, stop
        return None
    return None


def _of_code(chunk: Chunk) -> Iterator[Drawn]:
    """The first sentence of a definition's comment, where all of it stands in the chunk."""
    wanted = _words(chunk.doc)
    if not wanted or chunk.kind in (Kind.LINES, Kind.SECTION):
        return
    held = [_words(line) for line in chunk.text.split("\n")]
    windows = [
        (end - start, start, end)
        for start in range(len(held))
        for end in range(start, min(start + 6, len(held)))
        if wanted <= set().union(*held[start : end + 1])
    ]
    if windows:
        _, start, end = min(windows)
        numbers = (chunk.start_line + start, chunk.start_line + end)
        yield Drawn(chunk.doc, "comment", chunk.path, chunk.language, chunk.start_line, chunk.end_line, numbers)


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text)}
