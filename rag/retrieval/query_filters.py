"""Filters inside a question: `path:src/auth`, `lang:go`, `kind:function`, `author:ana`, `since:2024-03`, and "in the tests" or "changed
since March 2024" in words. Pure but for today's date."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Literal

from rag.retrieval.days import day_of, days_in_words
from rag.source.languages import language_of
from rag.types import Filters, Kind

Group = Literal["code", "prose", ""]

_WRITTEN = re.compile(r"(?:(?<=\s)|^)(path|file|lang|language|kind|author|since|before):(\"[^\"\n]+\"|[^\s\"]+)(?=\s|$)")
_IN_THE_TESTS = re.compile(
    r"\b(?:(?:in|from|of|by) (?:the|our|its) (?:unit |integration )?tests?(?: suite| files?| code)?"
    r"|in (?:the|our|its) (?:unit |integration )?specs)(?=[\s?.!,]*$)",  # what is demanded by the specs is no test
    re.IGNORECASE,
)
_NAMES = {"c++": "cpp", "c#": "csharp", "golang": "go", "shell": "bash", "node": "javascript", "rst": "restructuredtext"}

TEST_GLOBS = (
    *("test/**", "tests/**", "__tests__/**", "spec/**", "specs/**", "testing/**"),
    *("test_*", "tests.*", "*_test.*", "*_tests.*", "*.test.*", "*-test.*", "*_spec.*", "*.spec.*", "*Test.*", "*Tests.*", "*Spec.*"),
)
"""Where tests lie and how they are called, in the languages that have a habit."""


def filters_in(question: str, today: date | None = None) -> tuple[str, Filters, Group]:
    """The question without its filters, what they say, and which group they ask for ("kind:prose"). `today`: in UTC. A date that is none
    stays in the question."""
    found: dict[str, list[str]] = {"path": [], "language": [], "kind": [], "author": []}
    days: dict[str, date] = {}
    group: Group = ""

    def read(match: re.Match[str]) -> str:
        nonlocal group
        name, value = match[1], match[2].strip('"')
        if name in ("path", "file"):
            found["path"].append(value)
        elif name in ("lang", "language"):
            found["language"].append(language_named(value))
        elif name == "author":
            found["author"].append(value)
        elif name in ("since", "before"):
            day = day_of(value)
            if day is None:
                return match[0]
            days[name] = day
        elif value in ("code", "prose"):
            group = "code" if value == "code" else "prose"
        elif value.lower() in set(Kind):
            found["kind"].append(value.lower())
        return " "

    text = _WRITTEN.sub(read, question)
    worded = False
    if not days:
        text, days = days_in_words(text, today or datetime.now(UTC).date())
        worded = bool(days)
    if _IN_THE_TESTS.search(text) and not found["path"]:
        found["path"] += TEST_GLOBS
    return (
        " ".join(text.split()) if text != question else question,
        Filters(
            tuple(found["path"]),
            tuple(found["language"]),
            tuple(found["kind"]),
            author=tuple(found["author"]),
            since=days.get("since"),
            before=days.get("before"),
            worded=worded,
        ),
        group,
    )


def language_named(name: str) -> str:
    """A language's name as the index has it, from that, a usual other name or an extension: "Golang" -> "go", "py" -> "python"."""
    lower = name.lower().lstrip(".")
    known = _NAMES.get(lower, lower)
    by_extension = language_of(f"name.{known}")
    return by_extension if by_extension != "text" else known


def joined(given: Filters, written: Filters) -> Filters:
    """Both: what was given beside the question holds where the question says something else of the same."""
    dated = given.since or given.before
    return Filters(
        given.path or written.path,
        given.language or written.language,
        given.kind or written.kind,
        author=given.author or written.author,
        since=given.since if dated else written.since,
        before=given.before if dated else written.before,
        worded=written.worded and not dated,
    )
