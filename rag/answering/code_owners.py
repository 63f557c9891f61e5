"""CODEOWNERS: who a repository itself says is responsible for a path. Read from the index, so an excluded file says nothing.

As GitHub and GitLab have it: the last line that fits counts; a line without owners frees its paths. GitLab's sections each count by
themselves. A pattern is compared segment by segment, in time that no pattern can make long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where it may lie; the first that is there counts."""

_MOST_LINES = 5_000
_MOST_OWNERS = 5
_SECTION = re.compile(r"\^?\[([^\[\]]{1,200})\](?:\[\d{1,3}\])?\s*(.*)$")
_OWNER = re.compile(r"@[\w.-]+(?:/[\w.-]+)*|@@?[\w-]+|[^\s@<>]+@[^\s@<>]+")
_UNSAFE = re.compile(r"[^\w./ -]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A line. `owners`: as they may be shown, without "@" and without the host of an e-mail address; none frees the path."""

    line: int
    pattern: str
    owners: tuple[str, ...]
    section: str = ""


def rules_of(text: str, first_line: int = 1) -> list[Rule]:
    """The lines that say something, in their order. A line that is none of these is passed over."""
    rules: list[Rule] = []
    section = ""
    by_default: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n")[:_MOST_LINES], first_line):
        line = re.sub(r"(?:^|\s)#.*$", "", line).strip()
        if not line:
            continue
        if head := _SECTION.match(line):
            section, by_default = head[1].casefold(), _owners(head[2])
            continue
        pattern, _, rest = re.sub(r"\\ ", "\0", line).replace("\t", " ").partition(" ")
        pattern = pattern.replace("\0", " ")
        if not pattern.startswith("!"):
            rules.append(Rule(number, pattern, _owners(rest) or by_default, section))
    return rules


def owning(rules: Sequence[Rule], path: str) -> list[Rule]:
    """The line that counts for the path, of each section one, those with owners."""
    last: dict[str, Rule] = {}
    for rule in rules:
        if fits(rule.pattern, path):
            last[rule.section] = rule
    return [rule for rule in last.values() if rule.owners]


def fits(pattern: str, path: str) -> bool:
    """Whether a pattern means a file: "/docs/" and "docs/**" all below, "docs/*" what lies in it directly, "*.js" at any depth."""
    below = pattern.endswith("/")
    parts = pattern.strip("/").split("/")
    if not pattern.startswith("/") and len(parts) == 1:
        parts = ["**", *parts]
    segments = path.split("/")
    if parts[-1] == "**":
        parts = [*parts[:-1], "*", "**"]
    # What fits a folder means all in it, but for "*", which means the files of one folder.
    return (not below and _match(parts, segments)) or (parts[-1] != "*" and _match([*parts, "*", "**"], segments))


def _match(parts: Sequence[str], segments: Sequence[str]) -> bool:
    """ "**" is any number of segments. Rows of a table, one a part: whether the parts so far fit so many segments."""
    reached = [True] + [False] * len(segments)
    for part in parts:
        if part == "**":
            after, any_before = [], False
            for before in reached:
                any_before = any_before or before
                after.append(any_before)
        else:
            after = [False] + [before and _like(part, segment) for before, segment in zip(reached, segments, strict=False)]
        reached = after
    return reached[-1]


def _like(part: str, text: str) -> bool:
    """`*` is any characters, `?` is one. Greedy with one way back: time by the product of the lengths at most."""
    place = position = 0
    star = back = -1
    while position < len(text):
        if place < len(part) and part[place] == "*":
            star, back, place = place, position, place + 1
        elif place < len(part) and part[place] in ("?", text[position]):
            place, position = place + 1, position + 1
        elif star >= 0:
            back, place, position = back + 1, star + 1, back + 1
        else:
            return False
    return all(character == "*" for character in part[place:])


def _owners(text: str) -> tuple[str, ...]:
    found = (word for word in _OWNER.findall(text[:2_000]))
    shown = (_UNSAFE.sub("", word.lstrip("@") if word.startswith("@") else word.split("@")[0])[:80] for word in found)
    return tuple(dict.fromkeys(name for name in shown if name))[:_MOST_OWNERS]
