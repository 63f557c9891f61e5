"""A bug report, a commit message, a pasted trace: what is the question in it, and what only came with it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONG = 500
"""Characters; a question that is longer is read as a title with material below it."""
_MOST_TITLE = 200  # characters
_MOST_OPENING = 1_500  # more than any window holds
_MOST_READ = 30_000  # characters whose words are counted, from the front

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)")
_PASTED = ("    ", "\t", ">>>", "$ ")
_OF_TEMPLATES = re.compile(
    r"""\s{0,3}(?: \#{1,6}\s.* | \*\*[^*]{1,80}\*\*:? | [=\-~^]{3,}   # headings and what underlines them
      | [-*]\ \[[ x]\].* | _no\ response_ | n/?a | none | no | yes   # check boxes, empty answers
      | [A-Z]\w{1,20}(?:-\w{1,20}){1,3}:\ \S.*                       # trailers of commits
    )\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"[.?!](?=\s)")


@dataclass(frozen=True, slots=True)
class LongText:
    """`title`: the first line, of a very long one the first sentences. `body`: what is below it, without what a template brought.
    `prose`: of that what is not pasted, neither between fences nor indented.
    """

    title: str
    body: str
    prose: str

    @property
    def opening(self) -> str:
        """What is embedded: as much as a window may hold."""
        return f"{self.title}\n{self.body[:_MOST_OPENING]}"


def long_text(text: str) -> LongText | None:
    """None where the question is short, or nothing but a template."""
    if len(text) <= LONG:
        return None
    text = _COMMENT.sub("\n", text[:_MOST_READ])
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), -1)
    if first < 0:
        return None
    title, rest = _title(lines[first].strip().lstrip("#").strip())
    body, prose = _sorted([rest, *lines[first + 1 :]])
    return LongText(title, "\n".join(body), "\n".join(prose))


def _title(line: str) -> tuple[str, str]:
    """A title, as many whole sentences as one may have, and the rest of the line."""
    if len(line) <= _MOST_TITLE:
        return line, ""
    end = [_MOST_TITLE, *(match.end() for match in _SENTENCE.finditer(line[:_MOST_TITLE]))][-1]
    return line[:end], line[end:]


def _sorted(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines that a person wrote or pasted, and those alone that were written."""
    body: list[str] = []
    prose: list[str] = []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or line.startswith(_PASTED):
            body.append(line)
        elif line.strip() and not _OF_TEMPLATES.match(line):
            body.append(line)
            prose.append(line)
    return body, prose
