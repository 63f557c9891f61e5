"""Filters inside a question: `path:src/auth`, `lang:go`, `kind:function`, and "in the tests" in words. Pure."""

from __future__ import annotations

import re
from typing import Literal

from rag.source.languages import language_of
from rag.types import Filters, Kind

Group = Literal["code", "prose", ""]

_WRITTEN = re.compile(r"(?:(?<=\s)|^)(path|file|lang|language|kind):(\"[^\"\n]+\"|[^\s\"]+)(?=\s|$)")
_IN_THE_TESTS = re.compile(
    r"\b(?:in|from|of|by) (?:the|our|its) (?:unit |integration )?(?:tests?(?: suite| files?| code)?|specs)(?=[\s?.!,]*$)", re.I
)
_NAMES = {"c++": "cpp", "c#": "csharp", "golang": "go", "shell": "bash", "node": "javascript", "rst": "restructuredtext"}

TEST_GLOBS = (
    *("test/**", "tests/**", "__tests__/**", "spec/**", "specs/**", "testing/**"),
    *("test_*", "tests.*", "*_test.*", "*_tests.*", "*.test.*", "*-test.*", "*_spec.*", "*.spec.*", "*Test.*", "*Tests.*", "*Spec.*"),
)
"""Where tests lie and how they are called, in the languages that have a habit."""


def filters_in(question: str) -> tuple[str, Filters, Group]:
    """The question without its filters, what they say, and which group they ask for ("kind:prose")."""
    found: dict[str, list[str]] = {"path": [], "language": [], "kind": []}
    group: Group = ""
    for name, value in _WRITTEN.findall(question):
        value = value.strip('"')
        if name in ("path", "file"):
            found["path"].append(value)
        elif name in ("lang", "language"):
            found["language"].append(language_named(value))
        elif value in ("code", "prose"):
            group = "code" if value == "code" else "prose"
        elif value.lower() in set(Kind):
            found["kind"].append(value.lower())
    text = _WRITTEN.sub(" ", question)
    if _IN_THE_TESTS.search(text) and not found["path"]:
        found["path"] += TEST_GLOBS
    return (
        " ".join(text.split()) if text != question else question,
        Filters(**{name: tuple(values) for name, values in found.items()}),
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
    return Filters(given.path or written.path, given.language or written.language, given.kind or written.kind)
