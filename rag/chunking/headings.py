"""Cutting prose by its headings: Markdown (ATX and setext; fenced code is no prose) and reStructuredText."""

from __future__ import annotations

import re

from rag.chunking.doctext import clipped
from rag.chunking.outline import ATTACHED, NEVER, Definition, Outline
from rag.types import Kind

_LEVEL = 0.2  # the price of beginning at a heading, per level below the first
_PARAGRAPH, _ITEM, _INSIDE, _CODE = 1.3, 1.6, 3.0, 3.5

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:(=+)|(-+))[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_NOT_A_TITLE = re.compile(r"\s*(?:[-*+>|<]|\d+[.)]\s|    |\t|#)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]|#\.)\s")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?|<[^<>]{1,200}>|[`*]+|:[a-z:]+:(?=`)")

Heading = tuple[int, int, int, str]  # first row, row of the title, level from 1, title


def outline_by_headings(lines: list[str], language: str) -> Outline:
    """Prices and sections: a section is a definition of kind SECTION whose scope is its ancestors' headings joined by " > "."""
    headings, code = _restructured(lines) if language == "restructuredtext" else _markdown(lines)
    costs = _prices(lines, code)
    begins = {first for first, _, _, _ in headings}
    for first, row, level, _ in headings:
        costs[first] = _LEVEL * (level - 1)
        for inner in range(first + 1, row + 1):
            costs[inner] = ATTACHED
        after = row + 1
        while after < len(lines) and (not lines[after].strip() or _ADORNMENT.match(lines[after]) or _SETEXT.match(lines[after])):
            if lines[after].strip():
                costs[after] = ATTACHED
            after += 1
        if after < len(lines) and after not in begins:
            costs[after] = ATTACHED  # a heading alone says little
    return Outline(costs, Kind.SECTION, _sections(headings, lines), prose=True)


def _prices(lines: list[str], code: bytearray) -> list[float]:
    costs: list[float] = []
    for row, line in enumerate(lines):
        after_blank = row == 0 or not lines[row - 1].strip()
        if not line.strip():
            costs.append(NEVER)
        elif code[row]:
            costs.append(_CODE if after_blank and code[row] == 1 else ATTACHED - 0.5)
        elif line[:1] in " \t" and not _LIST_ITEM.match(line):
            costs.append(_ITEM + 0.5 if after_blank else _INSIDE)
        elif after_blank:
            costs.append(_PARAGRAPH if not _LIST_ITEM.match(line) else _ITEM - 0.1)
        else:
            costs.append(_ITEM if _LIST_ITEM.match(line) else _INSIDE)
    return costs


def _markdown(lines: list[str]) -> tuple[list[Heading], bytearray]:
    headings: list[Heading] = []
    code = bytearray(len(lines))
    fence, comment = "", False
    start = _after_front_matter(lines)
    for row in range(start, len(lines)):
        line = lines[row]
        marker = _FENCE.match(line)
        if fence:
            code[row] = 1
            if marker and marker[1].startswith(fence) and not marker[2].strip():
                fence = ""
            continue
        if marker and not (marker[1][0] == "`" and "`" in marker[2]):
            fence = marker[1]
            continue  # the opening row begins a block: not inside it
        if comment or line.lstrip().startswith("<!--"):
            comment = "-->" not in line
            continue
        atx = _ATX.match(line)
        if atx:
            headings.append((row, row, len(atx[1]), _title(atx[2] or "")))
            continue
        under = _SETEXT.match(line)
        if under and row > start and _is_title(lines, row - 1, start) and not code[row - 1]:
            headings.append((row - 1, row, 1 if under[1] else 2, _title(lines[row - 1])))
    return [heading for heading in headings if heading[3]], code


def _is_title(lines: list[str], row: int, start: int) -> bool:
    title = lines[row]
    alone = row == start or not lines[row - 1].strip() or bool(_ATX.match(lines[row - 1]))
    return bool(title.strip()) and not _NOT_A_TITLE.match(title) and alone and "|" not in title


def _after_front_matter(lines: list[str]) -> int:
    if lines and lines[0].rstrip() in ("---", "+++"):
        for row in range(1, min(len(lines), 200)):
            if lines[row].rstrip() in (lines[0].rstrip(), "..."):
                return row + 1
    return 0


def _restructured(lines: list[str]) -> tuple[list[Heading], bytearray]:
    """Levels in the order in which their adornments first occur, as docutils has it."""
    headings: list[Heading] = []
    styles: list[str] = []
    row = 0
    while row + 1 < len(lines):
        line, below = lines[row], lines[row + 1]
        over = _ADORNMENT.match(line)
        if over and row + 2 < len(lines) and below.strip() and not _ADORNMENT.match(below):
            under = _ADORNMENT.match(lines[row + 2])
            if under and under[1] == over[1] and len(line.rstrip()) >= len(below.strip()):
                headings.append((row, row + 2, _level(styles, over[1] * 2), _title(below)))
                row += 3
                continue
        under = _ADORNMENT.match(below)
        first_of_block = row == 0 or not lines[row - 1].strip() or lines[row - 1].startswith("..")
        if (
            under
            and line.strip()
            and line[:1] not in " \t"
            and not over
            and first_of_block
            and len(below.rstrip()) >= min(len(line.rstrip()), 4)
        ):
            headings.append((row, row + 1, _level(styles, under[1]), _title(line)))
            row += 2
            continue
        row += 1
    code = bytearray(len(lines))
    return [heading for heading in headings if heading[3]], code


def _level(styles: list[str], style: str) -> int:
    if style not in styles:
        styles.append(style)
    return min(styles.index(style) + 1, 6)


def _title(text: str) -> str:
    return clipped(" ".join(_MARKUP.sub(lambda match: match[1] or "", text[:1000]).split()).strip("# "))


def _sections(headings: list[Heading], lines: list[str]) -> list[Definition]:
    sections: list[Definition] = []
    open_: list[tuple[int, int]] = []  # (level, index)
    for position, (first, row, level, title) in enumerate(headings):
        while open_ and open_[-1][0] >= level:
            open_.pop()
        end = next((later[0] for later in headings[position + 1 : position + 400] if later[2] <= level), len(lines)) - 1
        while end > row and not lines[end].strip():
            end -= 1
        scope = clipped(" > ".join(sections[index].name for _, index in open_))
        sections.append(Definition(title, Kind.SECTION, scope, first, first, end, open_[-1][1] if open_ else -1))
        open_.append((level, position))
    return sections
