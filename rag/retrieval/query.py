"""What a question says beyond its words: symbols, places, filters, what kind of answer it wants. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rag.index.stems import stem
from rag.index.tokens import terms, word_terms, words
from rag.retrieval.query_filters import Group, filters_in
from rag.source.languages import language_of
from rag.types import Filters

AsksFor = Literal["where", "how", "what", "why", "who", "documentation", "symbol", ""]

_OF_QUESTIONS = """
a about all am an and any are as at be been being but by can could did do does doing done each every explain find for from get gets
got had has have having he her here his how i if in into is it its may me might must my no not of on onto or our please shall she
should show so some tell than that the their them then there these they this those to us use used uses using via was we were what
when where which who whom whose why will with within without work works would you your
"""
STOP_WORDS = frozenset(_OF_QUESTIONS.split())
"""Words of questions, not of code: where one alone is asked for, it counts."""

_NAME = r"[A-Za-z_$][\w$]*"
_JOINT = r"(?:::|->|[.#\\/])"
_SYMBOL = re.compile(rf"[@:]*{_NAME}(?:{_JOINT}{_NAME})*[!?]?(?:\(\))?$")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_IN_PROSE = re.compile(
    rf"""(?<![\w/.])(?:
        {_NAME}(?:(?:::|->|[.#]){_NAME})+        # dotted.names, Scoped::names
      | {_NAME}\(\)                              # called()
      | [A-Za-z0-9]*[a-z0-9][A-Z]\w*             # camelCase, PascalCase
      | [A-Z]{{2,}}[a-z]{{2,}}\w*                  # HTTPServer
      | \w*[A-Za-z0-9]_\w+ | _+[A-Za-z]\w*       # snake_case, _private
    )""",
    re.VERBOSE,
)
_PLACE = re.compile(r"(?<![\w/\\])(?:[\w.@+-]+[/\\]){0,20}[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])")
_TEST_TOOL = re.compile(r"\btest(?:ing)? (?:client|server|runner|app|harness|helper|mode|utilit)", re.IGNORECASE)  # made for tests, not one
_TESTS = frozenset({"test", "tests", "tested", "testing", "spec", "specs", "fixture", "fixtures", "mock", "mocks"})
_EXAMPLES = frozenset({"example", "examples", "sample", "samples", "demo", "demos", "benchmark", "benchmarks", "tutorial", "tutorials"})
_DOCUMENTATION = frozenset({"documentation", "docs", "doc", "readme", "changelog", "guide", "tutorial", "documented", "faq"})


@dataclass(frozen=True, slots=True)
class Query:
    """`text`: the question without its filters. `terms`: as BM25 counts them, without stop words; `stems`: the same without their endings.

    `places`: paths and names of files in it. `symbol`: its bare name in lower case, where the whole question is a symbol. `identifiers`:
    bare names in lower case, of all that is written like code, the symbol included. `group`: which results were asked for, "" for either.
    """

    text: str
    terms: tuple[str, ...]
    stems: tuple[str, ...]
    places: tuple[str, ...]
    symbol: str
    identifiers: tuple[str, ...]
    filters: Filters
    group: Group
    asks_for: AsksFor
    asks_for_tests: bool
    asks_for_examples: bool


def understand(question: str) -> Query:
    """Reads a question. Where nothing but filters was written, they are taken as words."""
    text, filters, group = filters_in(question)
    if not text.strip():
        text, filters, group = question, Filters(), ""
    text = text.strip()
    found = terms(text)
    # By words: "from" says nothing in a sentence, and something in FromRequest.
    kept = tuple(term for word in words(text) if word.lower() not in STOP_WORDS for term in word_terms(word)) or tuple(found)
    symbol = bare_name(text) if _SYMBOL.match(text) else ""
    said = frozenset(found)
    return Query(
        text=text,
        terms=kept,
        stems=tuple(map(stem, kept)),
        places=places_in(text),
        symbol=symbol,
        identifiers=(symbol,) if symbol else _identifiers(text),
        filters=filters,
        group=group,
        asks_for=_asks_for(text, symbol),
        asks_for_tests=not _TESTS.isdisjoint(terms(_TEST_TOOL.sub(" ", text))),
        asks_for_examples=not said.isdisjoint(_EXAMPLES),
    )


def places_in(text: str) -> tuple[str, ...]:
    """Paths and file names, in their order: "src/auth/token.go" of "at src/auth/token.go:12", "setup.py"."""
    found = (match[0].replace("\\", "/").strip("/.") for match in _PLACE.finditer(text))
    return tuple(dict.fromkeys(place for place in found if "/" in place or _is_file(place)))


def bare_name(symbol: str) -> str:
    """The last part of a qualified name, lower case: "Rails::Engine" -> "engine", "app.route()" -> "route"."""
    return re.split(_JOINT, symbol.strip().removesuffix("()").strip("!?@:"))[-1].lower()


def _identifiers(text: str) -> tuple[str, ...]:
    quoted = [inner.strip() for inner in _QUOTED.findall(text)]
    names = [name for name in quoted if _SYMBOL.match(name)] + [match[0] for match in _IN_PROSE.finditer(_QUOTED.sub(" ", text))]
    return tuple(dict.fromkeys(bare for name in names if len(bare := bare_name(name)) > 1 and not _is_file(name)))


def _is_file(name: str) -> bool:
    return "." in name and language_of(name) != "text"


def _asks_for(text: str, symbol: str) -> AsksFor:
    if symbol:
        return "symbol"
    spoken = re.findall(r"[a-z]+", text.lower())
    if not _DOCUMENTATION.isdisjoint(spoken):
        return "documentation"
    asked: tuple[AsksFor, ...] = ("where", "how", "what", "why", "who")
    return next((word for word in asked if word in spoken[:4]), "")
