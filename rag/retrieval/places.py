"""Where a text points: paths, names of files, links to a file on a host, lines of them, stack frames of many languages. Pure.

No pattern can start twice inside one run of the characters that it repeats, so that each takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from rag.source.languages import language_of


@dataclass(frozen=True, slots=True)
class Place:
    """`path`: with forward slashes, as much of it as was written. `start_line`, `end_line`: 1-based, inclusive, 0 where none were given.
    `function`: the bare name that a stack frame gives, "" for none. `nearness`: of a stack frame to where it failed, 1 the nearest,
    above 0; 0 for what is no frame.
    """

    path: str
    start_line: int = 0
    end_line: int = 0
    function: str = ""
    nearness: float = 0.0


_MOST_LINES = 400  # that are read for frames from either end of a text
_LONGEST_LINE = 500
_MOST = 60  # places of one text

_PATH = r"(?:[A-Za-z]:)?(?:[\w.@+~-]*[/\\]){0,40}[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}"
_PLACE = re.compile(
    rf"""(?<![\w/\\.@+~-])({_PATH})(?![\w/\\])
    (?: \#L(\d{{1,7}})(?:-L?(\d{{1,7}}))?  |  :(\d{{1,7}})(?:-(\d{{1,7}}))?(?!\w)  |  \((\d{{1,7}})(?:,\s?\d+)?\)
      | [`"']?,?\ (?:on\ |at\ )?lines?\ (\d{{1,7}})(?:\s?(?:-|to)\s?(\d{{1,7}}))? )?""",
    re.VERBOSE,
)
_LINK = re.compile(
    r"""https?://[\w.:-]{1,200}/[^\s?\#/]{1,200}(?:/[^\s?\#/]{1,200}){1,8}?/(?:-/)?(?:blob|blame|raw|src|tree)/[^\s?\#/]{1,200}/
    ([^\s?\#)>\]"'`]{1,400}) (?:\?[^\s\#]{0,200})? (?:\#(?:L|lines-)(\d{1,7})(?:[:-]L?(\d{1,7}))?)?""",
    re.VERBOSE,
)
_ANY_LINK = re.compile(r"\b[a-z][a-z0-9+]{1,9}://\S*")
# What a line of a trace says of its frame, by names of groups; the first pattern that fits a line counts.
_FILE = r"(?:\w{2,20}:/{2,3})?(?P<path>(?:[A-Za-z]:)?[^\s:()\"'`]{1,300}\.\w{1,10})"
_LINE = r"(?P<line>[0-9]{1,7})"
_LAST_IS_NEAREST = (  # Python, IPython
    re.compile(rf'\s*File "(?P<path>[^"]{{1,300}})", line {_LINE}(?:, in (?P<function>[\w.<>]{{1,100}}))?'),
    re.compile(rf"\s*(?:File )?{_FILE}(?::{_LINE},)? in (?P<function>[\w.<>]{{1,100}})\("),
)
_FIRST_IS_NEAREST = (
    re.compile(rf"\s*at (?P<qualified>[\w.$<>/]{{1,300}})\((?P<path>[\w$-]{{1,100}}\.\w{{1,10}}):{_LINE}\)"),  # Java, Kotlin, Scala
    re.compile(rf"\s*at (?P<function>[^\s()][^()]{{0,150}})\([^()]{{0,200}}\) in {_FILE}:line {_LINE}"),  # C#
    re.compile(
        rf"\s*(?:at|from) (?:(?:async )?(?P<function>[^\s()]{{1,150}})(?: \[as \w{{1,80}}\])? \(?)?{_FILE}:{_LINE}"
    ),  # JS, Rust, Ruby
    re.compile(
        rf"\s*#[0-9]{{1,4}}\s{{1,4}}(?:0x[0-9a-f]{{1,16}} in )?(?P<function>[\w:~<>]{{1,150}}) ?\([^()]{{0,200}}\) at {_FILE}:{_LINE}"
    ),  # C
    re.compile(rf"\s*#[0-9]{{1,4}}\s+{_FILE}\({_LINE}\): (?P<function>[^\s(]{{0,150}})"),  # PHP
    re.compile(rf"\s*{_FILE}:{_LINE}:in [`'](?P<function>[^'`]{{1,150}})"),  # Ruby
    re.compile(rf"\s*(?:\([^()]{{1,60}}\) )?{_FILE}:{_LINE}: (?P<function>[\w.]{{1,150}}[?!]?)/[0-9]"),  # Elixir
    re.compile(rf"\s+{_FILE}:{_LINE}(?: \+0x[0-9a-f]{{1,12}})?\s*$"),  # Go
)


def places_of(text: str) -> tuple[Place, ...]:
    """All places, stack frames first, the nearest before the others; each once."""
    frames, rest = _frames(text)
    found = [*frames, *_linked(rest), *_written(_ANY_LINK.sub(" ", rest))]
    return tuple(dict.fromkeys(found))[:_MOST]


def _frames(text: str) -> tuple[list[Place], str]:
    """The frames, nearest first, and the text without their lines."""
    lines = text.split("\n")
    if len(lines) < 2:
        return [], text
    read = range(len(lines)) if len(lines) <= 2 * _MOST_LINES else [*range(_MOST_LINES), *range(len(lines) - _MOST_LINES, len(lines))]
    last: list[Place] = []
    first: list[Place] = []
    for number in read:
        line = lines[number][:_LONGEST_LINE]
        if "." not in line:
            continue
        for patterns, found in ((_LAST_IS_NEAREST, last), (_FIRST_IS_NEAREST, first)):
            match = next((match for pattern in patterns if (match := pattern.match(line))), None)
            if match and (frame := _frame(match.groupdict())):
                found.append(frame)
                lines[number] = ""
                break
    ordered = [*reversed(last), *first]
    count = len(ordered)
    near = [Place(f.path, f.start_line, f.end_line, f.function, (count - place) / count) for place, f in enumerate(ordered)]
    return near, "\n".join(lines)


def _frame(found: dict[str, str | None]) -> Place | None:
    path, line = _clean(found["path"] or ""), int(found.get("line") or 0)
    if qualified := found.get("qualified"):  # package and class of the JVM say where the file lies
        package, _, function = qualified.replace("/", ".").rpartition(".")
        path = "/".join([*package.split(".")[:-1], path])
    else:
        function = found.get("function") or ""
    return Place(path, line, line, _bare(function)) if _is_path(path) else None


def _linked(text: str) -> Iterator[Place]:
    for match in _LINK.finditer(text):
        start = int(match[2] or 0)
        yield Place(_clean(unquote(match[1])), start, int(match[3] or start))


def _written(text: str) -> Iterator[Place]:
    for match in _PLACE.finditer(text):
        if _is_path(path := _clean(match[1])):
            start = int(match[2] or match[4] or match[6] or match[7] or 0)
            yield Place(path, start, int(match[3] or match[5] or match[8] or start))


def _clean(path: str) -> str:
    path = path.replace("\\", "/")
    return (path[2:] if path[1:2] == ":" else path).strip("/.~")


def _is_path(path: str) -> bool:
    return "/" in path or is_file(path)


def is_file(name: str) -> bool:
    """Whether a name without directories is that of a file of a known language."""
    return "." in name and language_of(name) != "text"


def _bare(function: str) -> str:
    words = re.findall(r"\w+", function)
    return words[-1].lower() if words else ""
