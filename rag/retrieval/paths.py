"""What a path says of a file: its name in words, its directories, whether it is a test or an example. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from rag.index.tokens import split_words

# Files called after what their directory is about.
_NAMED_BY_DIRECTORY = frozenset({"mod", "index", "main", "__init__", "readme"})

_FOR_TESTS = """
test tests testing unittest unittests __tests__ spec specs e2e testdata fixture fixtures mock mocks __mocks__
"""
_TEST_DIRECTORIES = frozenset(_FOR_TESTS.split())
_PERLS_TESTS = frozenset({"t", "xt"})  # at the top
_TEST_NAME = re.compile(r"(?:^|[_.-])(?:tests?|specs?)(?:[_.-]|$)|^conftest\b|.\.(?:t|bats)$", re.IGNORECASE)
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|Specs?|TestCase|IT)\.[A-Za-z]+$")
_FOR_EXAMPLES = """
example examples sample samples demo demos doc docs documentation bench benches benchmark benchmarks tutorial tutorials playground website
"""
_EXAMPLE_DIRECTORIES = frozenset(_FOR_EXAMPLES.split())


_OF_TESTS = re.compile(
    r"^(?:(?i:tests?|specs?)[_.-]|Test(?=[A-Z]))|(?:[_.-](?i:tests?|specs?|suite)|(?<=[a-z0-9])(?:Tests?|Specs?|TestCase|TestSuite|Suite|IT))$"
)  # what a test's name has before or behind that of what it tests
_FOR_DATA = """
xml toml yaml json jsonl geojson csv tsv ini properties po gitignore gitattributes requirements text make cmake dockerfile
"""
_DATA = frozenset(_FOR_DATA.split())
_FOR_SOURCES = """
awk bas coffee cr gd hx hy jq l lean lex ll lpp ly m4 nut pony raku rakumod re rei res sml st vala vapi wl y yacc yy ypp
"""
_SOURCES = frozenset(_FOR_SOURCES.split())  # what programs are written in for which there is no table here
_OUTDATED = frozenset({"compat", "deprecated", "deprecations", "legacy", "obsolete", "old"})
_VERSION = re.compile(r"((?:.*?/)?)((?:v|version-)\d+(?:\.\d+)*|\d+(?:\.\d+)+)/(.*)")
_OF_CHANGES = re.compile(
    r"(?:^|[\W_])(?:change(?:s|log)?|history|news|releases?|release[\W_]?notes?|what'?s[\W_]?new)(?:[\W_]|$)", re.IGNORECASE
)
_RELEASES = frozenset({"changelog", "changelogs", "news", "release-notes", "release_notes", "releasenotes", "releases", "whatsnew"})
_FORM = re.compile(r"(?:issue|pull_request|merge_request)_templates?(?:[./]|$)", re.IGNORECASE)
_LANGUAGE = r"(?:ar|bg|bn|br|ca|cn|cs|da|de|el|es|fa|fi|fr|he|hi|hu|id|it|ja|jp|ko|kr|ms|nb|nl|pl|pt|ro|ru|sk|sr|sv|th|tr|tw|uk|ur|vi|zh)"
_TRANSLATED_TO = re.compile(rf"{_LANGUAGE}(?:[-_][a-z]{{2,4}})?$", re.IGNORECASE)
_NAME_TRANSLATED = re.compile(rf"(.+)[._-]{_LANGUAGE}(?:[-_][a-z]{{2,4}})?$", re.IGNORECASE)
_OF_TRANSLATIONS = frozenset(
    {"i18n", "l10n", "lang", "langs", "languages", "locale", "locales", "translated", "translation", "translations"}
)


@dataclass(frozen=True, slots=True)
class PathFacts:
    """`stem`, `directories`: distinct words in lower case. `level`: how many directories deep. `outdated`: kept for old users. `changes`: a
    change log or release notes. `form`: what who reports a fault or offers a change fills in. `source`: code, though of a language that
    is cut by lines alone. `unversioned`, `untranslated`: see the functions of these names. `subject`: of a test the name of what it
    tests, of all else its own, in lower case and without endings.
    """

    stem: tuple[str, ...]
    directories: tuple[str, ...]
    level: int
    test: bool
    example: bool
    outdated: bool
    unversioned: str
    untranslated: tuple[str, ...]
    subject: str
    changes: bool
    form: bool
    source: bool


@lru_cache(maxsize=100_000)
def path_facts(path: str) -> PathFacts:
    """Of a path with forward slashes."""
    pure = PurePosixPath(path)
    directories = pure.parts[:-1]
    stem = pure.stem.lstrip(".")
    if is_named_by_directory(stem) and directories:
        stem = directories[-1]
    words_of_directories = [split_words(directory) for directory in directories]
    return PathFacts(
        stem=split_words(stem),
        directories=tuple(dict.fromkeys(word for of_one in words_of_directories for word in of_one)),
        level=len(directories),
        test=any(_is_test_directory(name, parts) for name, parts in zip(directories, words_of_directories, strict=True))
        or (bool(directories) and directories[0] in _PERLS_TESTS)
        or bool(_TEST_NAME.search(pure.name) or _TEST_CLASS.search(pure.name)),
        example=any(directory.lower().strip("_") in _EXAMPLE_DIRECTORIES for directory in directories),
        outdated=any(directory.lower().strip("_") in _OUTDATED for directory in directories),
        unversioned=unversioned(path),
        untranslated=untranslated(path),
        subject=_subject(pure.name),
        changes=bool(_OF_CHANGES.search(pure.stem)) or any(directory.lower() in _RELEASES for directory in directories),
        form=bool(_FORM.search(path)),
        source=pure.suffix[1:].lower() in _SOURCES,
    )


def is_named_by_directory(stem: str) -> bool:
    """Whether files so called say nothing of their own: "index", "__init__"."""
    return stem.lower() in _NAMED_BY_DIRECTORY


def is_data(language: str) -> bool:
    """Whether files of a language hold settings and data rather than code."""
    return language in _DATA


def split_version(path: str) -> tuple[str, str, str] | None:
    """What stands before, in and behind its first directory that is a version, None where it has none: "depot/v1.2/door.py" -> "depot/",
    "v1.2", "door.py"."""
    match = _VERSION.match(path)
    return (match[1], match[2], match[3]) if match else None


def unversioned(path: str) -> str:
    """The path without its first directory that is a version, "" where it has none: "depot/v1/door.py" -> "depot/door.py"."""
    split = split_version(path)
    return split[0] + split[2] if split else ""


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
        if named[1].lower() == "readme":  # translations of the repository's own are often kept in a directory
            found += [(*parts[:above], f"{named[1]}{pure.suffix}") for above in range(len(parts) - 1)]
    return tuple("/".join(one) for one in found)


def version_of(path: str) -> tuple[int, ...] | None:
    """The numbers of its first directory that is a version, None where it has none: "depot/v1.2/door.py" -> 1, 2."""
    split = split_version(path)
    return tuple(map(int, re.findall(r"\d+", split[1]))) if split else None


def _is_test_directory(name: str, parts: tuple[str, ...]) -> bool:
    return name.lower() in _TEST_DIRECTORIES or parts[-1:] in (("test",), ("tests",))


def _subject(name: str) -> str:
    """ "door_test.go", "TestDoor.java", "door.spec.ts", "door.go" -> "door"."""
    stem = name.lstrip(".").partition(".")[0]
    return (_OF_TESTS.sub("", stem) or stem).lower()
