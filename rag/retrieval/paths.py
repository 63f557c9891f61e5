"""What a path says of a file: its name in words, its directories, whether it is a test or an example. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from rag.index.tokens import word_terms, words

# Files called after what their directory is about.
_NAMED_BY_DIRECTORY = frozenset({"mod", "index", "__init__", "readme"})

_FOR_TESTS = """
test tests testing unittest unittests __tests__ spec specs e2e testdata fixture fixtures mock mocks __mocks__
"""
_TEST_DIRECTORIES = frozenset(_FOR_TESTS.split())
_TEST_NAME = re.compile(r"(?:^|[_.-])(?:tests?|specs?)(?:[_.-]|$)|^conftest\b", re.IGNORECASE)
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|Specs?|TestCase|IT)\.[A-Za-z]+$")
_FOR_EXAMPLES = """
example examples sample samples demo demos doc docs documentation bench benches benchmark benchmarks tutorial tutorials playground
"""
_EXAMPLE_DIRECTORIES = frozenset(_FOR_EXAMPLES.split())


_OUTDATED = frozenset({"compat", "deprecated", "deprecations", "legacy", "obsolete", "old"})
_VERSION = re.compile(r"((?:.*?/)?)v\d+/(.*)")
_OF_CHANGES = re.compile(
    r"(?:^|[\W_])(?:change(?:s|log)?|history|news|releases?|release[\W_]?notes?|what'?s[\W_]?new)(?:[\W_]|$)", re.IGNORECASE
)
_RELEASES = frozenset({"changelog", "changelogs", "news", "release-notes", "release_notes", "releasenotes", "releases", "whatsnew"})
_LANGUAGE = r"(?:ar|bg|bn|br|ca|cn|cs|da|de|el|es|fa|fi|fr|he|hi|hu|id|it|ja|jp|ko|kr|ms|nb|nl|pl|pt|ro|ru|sk|sr|sv|th|tr|tw|uk|ur|vi|zh)"
_TRANSLATED_TO = re.compile(rf"{_LANGUAGE}(?:[-_][a-z]{{2,4}})?$", re.IGNORECASE)
_NAME_TRANSLATED = re.compile(rf"(.+)[._-]{_LANGUAGE}(?:[-_][a-z]{{2,4}})?$", re.IGNORECASE)
_OF_TRANSLATIONS = frozenset(
    {"i18n", "l10n", "lang", "langs", "languages", "locale", "locales", "translated", "translation", "translations"}
)


@dataclass(frozen=True, slots=True)
class PathFacts:
    """`stem`, `directories`: distinct words in lower case. `level`: how many directories deep. `outdated`: kept for old users. `changes`: a
    change log or release notes.
    """

    stem: tuple[str, ...]
    directories: tuple[str, ...]
    level: int
    test: bool
    example: bool
    outdated: bool
    changes: bool


@lru_cache(maxsize=100_000)
def path_facts(path: str) -> PathFacts:
    """Of a path with forward slashes."""
    pure = PurePosixPath(path)
    directories = pure.parts[:-1]
    stem = pure.stem.lstrip(".")
    if stem.lower() in _NAMED_BY_DIRECTORY and directories:
        stem = directories[-1]
    words_of_directories = [split_words(directory) for directory in directories]
    return PathFacts(
        stem=split_words(stem),
        directories=tuple(dict.fromkeys(word for of_one in words_of_directories for word in of_one)),
        level=len(directories),
        test=any(_is_test_directory(name, parts) for name, parts in zip(directories, words_of_directories, strict=True))
        or bool(_TEST_NAME.search(pure.name) or _TEST_CLASS.search(pure.name)),
        example=any(directory.lower().strip("_") in _EXAMPLE_DIRECTORIES for directory in directories),
        outdated=any(directory.lower().strip("_") in _OUTDATED for directory in directories),
        changes=bool(_OF_CHANGES.search(pure.stem)) or any(directory.lower() in _RELEASES for directory in directories),
    )


def unversioned(path: str) -> str:
    """The path without its first directory that is a version, "" where it has none: "depot/v1/door.py" -> "depot/door.py"."""
    match = _VERSION.match(path)
    return match[1] + match[2] if match else ""


@lru_cache(maxsize=100_000)
def untranslated(path: str) -> tuple[str, ...]:
    """Where the page may lie that this one translates, nothing where its path names no language but English: "docs/de/door.md" ->
    "docs/door.md", "docs/en/door.md"."""
    pure = PurePosixPath(path)
    parts = pure.parts
    found: list[tuple[str, ...]] = []
    for place, directory in enumerate(parts[:-1]):
        if _TRANSLATED_TO.match(directory):
            before, after = parts[:place], parts[place + 1 :]
            found += [(*before, *after), (*before, "en", *after)]
            if before and before[-1].lower() in _OF_TRANSLATIONS:
                found.append((*before[:-1], *after))
    if named := _NAME_TRANSLATED.match(pure.stem):
        found += [(*parts[:-1], f"{named[1]}{ending}{pure.suffix}") for ending in ("", ".en", "_en", "-en")]
    return tuple("/".join(one) for one in found)


def version_of(path: str) -> int | None:
    """The number of its first directory that is a version, None where it has none: "depot/v1/door.py" -> 1."""
    match = _VERSION.match(path)
    return int(path[len(match[1]) :].partition("/")[0][1:]) if match else None


@lru_cache(maxsize=200_000)
def split_words(text: str) -> tuple[str, ...]:
    """The distinct parts of all words, lower case: "HTTPServer_test" -> http, server, test."""
    return tuple(dict.fromkeys(part for word in words(text) for part in (word_terms(word)[1:] or word_terms(word))))


def _is_test_directory(name: str, parts: tuple[str, ...]) -> bool:
    return name.lower() in _TEST_DIRECTORIES or parts[-1:] in (("test",), ("tests",))
