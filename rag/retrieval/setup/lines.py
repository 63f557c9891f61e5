"""Which lines of a manifest, a workflow, a licence … declare what is asked for: a name with its version, the supported versions of a
language, a matrix, a base image. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from rag.index.tokens import terms
from rag.retrieval.setup.asked import SetupKind

_VERSION = re.compile(r"[~^<>=!]=?\s*[\"']?v?\d|\bv?\d+\.\d+|[\"'>:@=]\s?v?\d+(?:[.\s\"'<,]|$)", re.IGNORECASE)
_BY_REFERENCE = 0.7  # ${door.version}
_UNVERSIONED = 0.5  # a line that names it, and no version
_OTHER = 0.3  # dependencies, but those of developers, or the other way round
_APART = 0.8  # names that stand on several lines
_ELSEWHERE = 0.8  # where nothing says that dependencies stand there
_PATTERNS: Mapping[SetupKind, str] = {
    "dependencies": r"""
        ^\s*\[?["']?(?:[\w.-]*\.)?dependencies["']?\s*[\]:=({] | ["']require["']\s*: | \binstall_requires\b
      | \bdeps\b(?:\s+do\b|:?\s*=?\s*\[) | ^\s*require\s*\( | \badd_(?:runtime_)?dependency\b | <dependenc(?:y|ies)>
      | <package(?:reference|version)\b | \.package\(\s*url | ^\s*(?:implementation|api|compile)\b
      | \bfind_package\s*\( | \blibraryDependencies\b
    """,
    "runtime": r"""
        requires[-_]python | python_requires | ^\s*python\s*= | ["']engines["'] | \brust-version\b | required_ruby_version
      | swift-tools-version
      | \belixir:\s | <targetframeworks? | <(?:maven\.compiler|java|jdk)[.\w]*> | (?:source|target)compatibility | jvmtoolchain
      | ^go\s\d | ["']php["']\s*: | cmake_minimum_required | deployment_target | platforms:\s*\[ | scalaversion | kotlin_?version
      | ["']sdk["'] | \b(?:python|node|go|java|ruby|php|elixir|otp|dotnet)-version
    """,
    "ci": r"^\s*(?:matrix|strategy|jobs|on|stages|script|steps|env|environment|task)\s*: | -version[\"']?\s*:\s*\[",
    "release": r"\b(?:publish|upload|deploy|release)\b",
    "container": r"^\s*from\s | ^\s*[\w-]*image\s*: | ^\s*ports\s*: | ^\s*expose\s",
    "tasks": r"""
        ["']scripts["']\s*: | ^[\w.-]+\s*:(?!=) | ^\[(?:\w+\.)*features\] | ^\s*option\s*\( | ^\[testenv
      | ^\s*(?:desc|task)\s | ^\[workspace\]
    """,
    "package": r"""^\s*["']?(?:name|version)["']?\s*[=:] | ["']?(?:files|include|entry_points|console_scripts|scripts)["']?\s*[\]=:]""",
    "licence": r"""
        \blicen[cs]es?["'>]?\s*[=:>]\s* | permission\ is\ hereby\ granted | redistribution\ and\ use | apache\ license
      | gnu\ (?:lesser\ |affero\ )?general\ public | mozilla\ public | \bmit\ license | bsd\ \d-clause
    """,
}
_DECLARED = {kind: re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.VERBOSE) for kind, pattern in _PATTERNS.items()}
_VERSION_LIST = re.compile(r"-version[\"']?\s*:\s*\[|\bmatrix\s*:")  # of a workflow
_COMMANDS = re.compile(r"^\s*(?:-\s*)?(?:run|script)\s*:\s*(?:[|>][+-]?\s*\n\s*)?(\S[^\n]*)", re.MULTILINE)
_ACTIONS = re.compile(r"^\s*(?:-\s*)?uses\s*:\s*([^\s@#]+)", re.MULTILINE)
_OPENS = re.compile(r"[\[({:]\s*$|^\s*\[[^\]]+\]\s*$|<\w+>\s*$|\bdo\s*$")
_SHOWN_LINES = 12  # of what a line opens

_OPTIONAL = re.compile(
    r"^\s*\[?[\"']?(?:[\w.-]*[.-])?(?:dev|peer|optional|test|build)[-_]?(?:dependencies|requires?)\b|add_development_dependency|dependency-groups",
    re.IGNORECASE | re.MULTILINE,
)


def declared(kinds: Collection[SetupKind], names: Sequence[str], text: str, *, optional: bool = False) -> float:
    """How much a chunk's text declares what is asked for, 0 to 1. `names`: of what; for dependencies the best line counts that holds one of
    them, and most where its version stands on it or on the next, among other dependencies. `optional`: those of developers, or what can be
    left out, are asked for."""
    if names and not {"dependencies", "used"}.isdisjoint(kinds):
        return _named(names, text) * (1.0 if _DECLARED["dependencies"].search(text) else _ELSEWHERE)
    return max((_section(kind, text, optional) for kind in kinds if kind in _DECLARED), default=0.0)


def declaring(kinds: Collection[SetupKind], names: Sequence[str], asked: frozenset[str], text: str) -> str:
    """Of a chunk's text the line that declares what is asked for, with the lines that it opens, all on one; "" where none does. `names`: as
    in `declared`; `asked`: the question's terms, of which one of several tasks or settings may hold most."""
    lines = text.splitlines()
    if names and not {"dependencies", "used"}.isdisjoint(kinds):
        worth = [_named(names, line) for line in lines]
        return lines[worth.index(max(worth))].strip() if max(worth, default=0.0) else ""
    return next((line for kind in kinds if (line := _said(kind, asked, text, lines))), "")


def _said(kind: SetupKind, asked: frozenset[str], text: str, lines: Sequence[str]) -> str:
    """Of a workflow the versions that it names, else what it runs, else what it uses."""
    workflow = kind in ("ci", "release")
    pattern = _VERSION_LIST if workflow else _DECLARED.get(kind)
    starts = [text.count("\n", 0, _first_letter(found)) for found in pattern.finditer(text)] if pattern else []
    if starts:
        best = max(starts, key=lambda at: (len(asked.intersection(terms(lines[at]))), _VERSION.search(lines[at]) is not None))
        return _opened(lines, best, always=kind == "tasks")
    steps = (_COMMANDS.findall(text) or _ACTIONS.findall(text)) if workflow else ()
    return "; ".join(dict.fromkeys(step.strip() for step in steps))


def _first_letter(found: re.Match[str]) -> int:
    """Where what was found begins: patterns of whole lines may begin on the line before."""
    return found.end() - len(found.group().lstrip())


def _opened(lines: Sequence[str], at: int, *, always: bool) -> str:
    """The line, and where it opens a list or a section what stands in it."""
    head = lines[at]
    if not (always or _OPENS.search(head)):
        return head.strip()
    deep = _depth(head)
    of_section = head.lstrip().startswith("[")
    inside = []
    for line in lines[at + 1 : at + 1 + _SHOWN_LINES]:
        closes = not line.strip() or (_depth(line) <= deep and not (of_section and not line.startswith("[")))
        if closes and not line.strip().startswith("- "):
            inside += [line.strip()] if line.strip()[:1] in ("]", "}", ")") else []
            break
        inside.append(line.strip())
    return " ".join([head.strip(), *inside])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _section(kind: SetupKind, text: str, optional: bool) -> float:
    found = _DECLARED[kind].search(text) is not None
    if kind != "dependencies":
        return float(found)
    beside = _OPTIONAL.search(text) is not None
    return 1.0 if (beside if optional else found) else _OTHER if found or beside else 0.0


def _named(names: Sequence[str], text: str) -> float:
    """Of the best line the share of the names, which may be words of one ("spring boot"); or of all lines together, a little less."""
    lines = text.lower().splitlines()
    best = [0.0] * len(names)
    together = 0.0
    for number, line in enumerate(lines):
        on_line = [place + len(name) if (place := line.find(name.lower())) >= 0 else 0 for name in names]
        if not any(on_line):
            continue
        rest = line[max(on_line) :] + "\n" + (lines[number + 1] if number + 1 < len(lines) else "")
        worth = 1.0 if _VERSION.search(rest) else _BY_REFERENCE if "version" in rest else _UNVERSIONED
        best = [max(known, worth if end else 0.0) for known, end in zip(best, on_line, strict=True)]
        together = max(together, worth * sum(map(bool, on_line)) / len(names))
    return max(together, _APART * sum(best) / len(names))
