"""What a question says beyond its words: symbols, places, filters, what kind of answer it wants. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rag.index.stems import stem
from rag.index.tokens import terms, word_terms, words
from rag.retrieval.long_text import LONG, LongText, long_text
from rag.retrieval.markup import plain
from rag.retrieval.message import Message, read_message
from rag.retrieval.places import Place, is_file, places_of
from rag.retrieval.query_filters import Group, filters_in
from rag.retrieval.setup.asked import SetupKind, setup_asked
from rag.retrieval.stop_words import FOREIGN_WORDS, STOP_WORDS, of_other_languages
from rag.types import Filters

AsksFor = Literal["where", "how", "what", "why", "who", "documentation", "symbol", ""]

_NAME = r"[A-Za-z_$][\w$]*"
_JOINT = r"(?:::|->|[.#\\/])"
_SYMBOL = re.compile(rf"[@:]*{_NAME}(?:{_JOINT}{_NAME})*[!?]?(?:\(\))?$")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_IN_PROSE = re.compile(
    rf"""(?<![\w/.$])(?:
        {_NAME}(?:(?:::|->|[.#]){_NAME})+        # dotted.names, Scoped::names
      | {_NAME}\(\)                              # called()
      | [A-Za-z0-9]*[a-z0-9][A-Z]\w*             # camelCase, PascalCase
      | [A-Z]{{2,}}[a-z]{{2,}}\w*                  # HTTPServer
      | \w*[A-Za-z0-9]_\w+ | _+[A-Za-z]\w*       # snake_case, _private
    )""",
    re.VERBOSE,
)
_ASKED_ALONE = {"licence", "license", "licences", "licenses"}  # a whole question of people, and seldom a name
_MOST_DRESSED = 4 * LONG  # characters of a message whose markup is taken off
_LINES_OF_REPORTS = 4  # what has more and is long is no message with much markup
_MOST_BESIDE = 20  # terms of what was told beside the question
_MOST_IDENTIFIERS = 40  # of a text; each is looked up
_TEST_TOOL = re.compile(r"\btest(?:ing)? (?:client|server|runner|app|harness|helper|mode|utilit)", re.IGNORECASE)  # made for tests, not one
_TO_TEST = re.compile(
    r"\bhow (?:to|(?:do|can|could|should|would) (?:i|we|you|one)) (?:unit[ -])?(?:tests?|mock)\b", re.IGNORECASE
)  # what of one's own
_TESTS = frozenset({"test", "tests", "tested", "testing", "fixture", "fixtures", "mock", "mocks"})
_CODE_FILE = r"\.(?:[cm]?[jt]sx?|coffee|cr|cs|dart|exs?|go|groovy|hs|java|kts?|lua|php|py|rb|rs|scala|swift)\b"
_SPECS = re.compile(
    rf"""\brspec\b
      | \bspecs?[ _-](?:files?|folders?|director(?:y|ies)|suites?|helpers?)\b
      | \b(?:unit|integration|acceptance|regression|e2e)[ ]specs?\b
      | \bin[ ](?:(?:the|our|its|all)[ ])?specs\b | \b(?:there|any|no|runs?|running|writes?|writing)[ ](?:(?:the|our|all)[ ])?specs\b
      | \bspecs[ ](?:cover|check|test|exercise|fail|pass|break)
      | [._-]specs?{_CODE_FILE} | (?-i:[a-z0-9]Specs?){_CODE_FILE}    # door_spec.rb, door.spec.ts, DoorSpec.kt
      | (?<![\w./-])specs?/(?:[\w./-]*[./]|(?!\w)) | \b(?:in|under|below)[ ]`?specs?/    # spec/models/
    """,
    re.IGNORECASE | re.VERBOSE,
)  # tests; a "spec" by itself is a specification: "according to the spec", "the OpenAPI spec"
_EXAMPLES = frozenset({"example", "examples", "sample", "samples", "demo", "demos", "benchmark", "benchmarks", "tutorial", "tutorials"})
_OF_DOCUMENTATION = re.compile(
    r"\b(?:documentation|docs?|documented|guide|tutorial)\b(?=\W*$|\s*[.,;:?!)]|\s+(?:pages?|sections?|says?|"
    + "|".join(sorted(STOP_WORDS))
    + r")\b)|\b(?:readme|changelog|faq)\b",
    re.IGNORECASE,
)  # not where it only describes the next word: "the documentation generator" is code
_ENGLISH = re.compile(r"\b(?:the|how|what|which|where|when|why|who|with|and|does|should|from|there)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:(?:change|release)(?:s|d|log| ?notes?)?|versions?|upgrad(?:e|es|ed|ing)|since when|when (?:was|were|did)|what'?s new|breaking"
    r"|new in|v?\d+\.\d+(?:\.\d+)?)\b",
    re.IGNORECASE,
)
_VERSIONS = re.compile(r"\bversions?\b", re.IGNORECASE)  # of what the repository needs, where that is asked for
_OPAQUE = re.compile(
    r"\b(?:0x[0-9a-f]+|(?=[a-f]*[0-9])[0-9a-f]{10,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b", re.IGNORECASE
)  # addresses, hashes, identifiers of one run: no source holds them
_MESSAGE = re.compile(r"\"[^\"\n]{12,400}\"|\b\w{0,60}(?:Error|Exception|Warning)\b: [^\n]{12,400}")
_WHICH_FILE = re.compile(r"^\W*(?:in )?(?:which|what) (?:source )?(?:file|place|part)s?\b", re.IGNORECASE)  # a way to ask where
_OF_ONE_RUN = re.compile(r"(?<![\w/\\.])[~.]?(?:[A-Za-z]:)?[/\\][^\s\"':,]{1,300}|\b[0-9]+\b")  # of a message: absolute paths, numbers


@dataclass(frozen=True, slots=True)
class Query:
    """`text`: the question without its filters. `terms`: as BM25 counts them, without stop words; `stems`: the same without their endings.

    `long`: what a long text is made of, None for a question as people ask them; its `terms` are those of its title until
    `rag.retrieval.focus` has chosen from the rest. `embedded`: what its vector is of. `said`, `extra`: what a language model said
    beside it (rag.retrieval.expansion): a text whose vector is averaged with its own, and terms that count a third of its own.
    `questions`: those that it is made of, where there are several. `places`: what it points at. `symbol`: its bare name in lower case,
    where the whole question is a symbol. `identifiers`: bare names in lower case, of all that is written like code, the symbol included;
    `qualified`: those with what they belong to, "door.open". `group`: which results were asked for, "" for either.
    `asks_for_changes`: what another version brought. `asks_for_setup`: what the repository depends on, how it is built … (see
    rag.retrieval.setup.asked). `in_english`: a word says so that other languages do not have.
    """

    text: str
    terms: tuple[str, ...]
    stems: tuple[str, ...]
    long: LongText | None
    embedded: str
    said: str
    extra: tuple[str, ...]
    questions: tuple[str, ...]
    places: tuple[Place, ...]
    symbol: str
    identifiers: tuple[str, ...]
    qualified: tuple[str, ...]
    filters: Filters
    group: Group
    asks_for: AsksFor
    asks_for_tests: bool
    asks_for_examples: bool
    asks_for_changes: bool
    asks_for_setup: tuple[SetupKind, ...]
    in_english: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """Those whose mean vector is searched for."""
        return (self.embedded, self.said) if self.said else (self.embedded,)

    @property
    def sought(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The terms and stems that BM25 is asked for, the question's own as often as they weigh more than the extra ones."""
        if not self.extra:
            return self.terms, self.stems
        return 3 * self.terms + self.extra, 3 * self.stems + tuple(map(stem, self.extra))


@dataclass(frozen=True, slots=True)
class Wording:
    """A question without its filters: `text`, what it is made of where that is `long`, and what the filters say. `message`: what it was
    read from."""

    text: str
    long: LongText | None
    filters: Filters
    group: Group
    message: Message

    @property
    def embedded(self) -> str:
        """What the question's vector is of."""
        return self.long.opening if self.long else _in_english(self.text)

    @property
    def symbol(self) -> str:
        """As `Query.symbol`."""
        name = bare_name(self.text) if not self.long and _SYMBOL.match(self.text) else ""
        return "" if name in _ASKED_ALONE else name


def wording_of(question: str) -> Wording:
    """Where nothing but filters was written, they are taken as words."""
    message = message_of(question)
    first, end, below = message.asked.lstrip().partition("\n") if len(message.asked) > LONG else (message.asked, "", "")
    asked, filters, group = filters_in(first)  # what is pasted below holds no filters
    text = (asked + end + below).strip()
    if not text:
        text, filters, group = message.asked.strip(), Filters(), ""
    return Wording(text, long_text(text), filters, group, message)


def understand(question: str) -> Query:
    """Reads a question, in time proportional to its length."""
    return understood(wording_of(question))


def understood(wording: Wording) -> Query:
    """The same of one whose filters are known."""
    text, long, message = wording.text, wording.long, wording.message
    head = long.title if long else text  # the question itself: what it asks for is said there
    symbol = wording.symbol
    kept = searched_terms(head)
    setup = () if symbol or long else _setup_of(text, message)
    if "licence" in setup:  # as files are called, and what they say, however it is spelled in the question
        kept = tuple(re.sub("^licenc", "licens", term) for term in kept)
    return Query(
        text=text,
        terms=kept,
        stems=tuple(map(stem, kept)),
        long=long,
        embedded=wording.embedded,
        said="",
        extra=_beside(message.told, kept),
        questions=message.questions,
        places=places_of(message.whole if message.told else text),
        symbol=symbol,
        identifiers=(symbol,) if symbol else _identifiers(f"{long.title}\n{long.prose}" if long else text),
        qualified=_qualified(f"{long.title}\n{long.prose}" if long else text),
        filters=wording.filters,
        group=wording.group,
        asks_for=_asks_for(head, symbol),
        asks_for_tests=not _TESTS.isdisjoint(terms(_TO_TEST.sub(" ", _TEST_TOOL.sub(" ", head)))) or bool(_SPECS.search(head)),
        asks_for_examples=not _EXAMPLES.isdisjoint(terms(head)),
        asks_for_changes=bool(_CHANGES.search(_VERSIONS.sub(" ", head) if setup and setup != ("used",) else head)),
        asks_for_setup=setup,
        in_english=bool(_ENGLISH.search(head)),
    )


def message_of(question: str) -> Message:
    """What is asked in it and what is told beside it; a long text, and one that says nothing else, as it stands."""
    short = len(question) <= LONG or (len(question) <= _MOST_DRESSED and question.count("\n") < _LINES_OF_REPORTS)
    whole = plain(question) if short else ""
    return read_message(whole) if whole and len(whole) <= LONG else Message(question, whole=question)


def _setup_of(text: str, message: Message) -> tuple[SetupKind, ...]:
    """Which kinds of setup a question asks for: "show me …" is also a way to ask."""
    asked, whole = text.partition("\n")[0], message.whole.partition("\n")[0]
    found = setup_asked(asked)
    if not found and not message.told and whole != asked:
        found = setup_asked(whole)
    return tuple(sorted(found))


def _beside(told: str, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The terms of what was told beside a question that it does not hold itself."""
    if not told:
        return ()
    known = frozenset(asked)
    return tuple(term for term in dict.fromkeys(searched_terms(told)) if term not in known)[:_MOST_BESIDE]


def _in_english(text: str) -> str:
    """Of a question in another language what is left without its small words, as names and terms are: the models know English."""
    if not of_other_languages(word.lower() for word in words(text)):
        return text
    return " ".join(word for word in text.split() if word.strip('¿?¡!.,:;()"').lower() not in FOREIGN_WORDS) or text


def searched_terms(text: str) -> tuple[str, ...]:
    """The terms of a text that are worth searching for: not its stop words, unless it has no others, and not what is of one run alone."""
    text = _WHICH_FILE.sub(" ", text)
    said = _MESSAGE.sub(lambda message: _OF_ONE_RUN.sub(" ", message[0]), _OPAQUE.sub(" ", text))
    spoken = words(said)
    silent = STOP_WORDS | FOREIGN_WORDS if of_other_languages(word.lower() for word in spoken) else STOP_WORDS
    # By words: "from" says nothing in a sentence, and something in FromRequest.
    kept = tuple(term for word in spoken if word.lower() not in silent for term in word_terms(word))
    return kept or tuple(terms(text))


def bare_name(symbol: str) -> str:
    """The last part of a qualified name, lower case: "Rails::Engine" -> "engine", "app.route()" -> "route"."""
    return re.split(_JOINT, symbol.strip().removesuffix("()").strip("!?@:$"))[-1].lower()


def qualified_name(symbol: str) -> str:
    """The last two parts of a qualified name, lower case, "" for a bare one: "Rails::Engine.routes" -> "engine.routes"."""
    parts = re.split(_JOINT, symbol.strip().removesuffix("()").strip("!?@:$"))[-2:]
    return ".".join(parts).lower() if len(parts) == 2 and all(parts) else ""


def _identifiers(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(bare for name in _names(text) if len(bare := bare_name(name)) > 1)
    return tuple(found)[:_MOST_IDENTIFIERS]


def _qualified(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in _names(text) if (name := qualified_name(one))))[:_MOST_IDENTIFIERS]


def _names(text: str) -> list[str]:
    """What is written like code in a text, as it is written."""
    quoted = [inner.strip() for inner in _QUOTED.findall(text)]
    names = [name for name in quoted if _SYMBOL.match(name)] + [match[0] for match in _IN_PROSE.finditer(_QUOTED.sub(" ", text))]
    return [name for name in names if not is_file(name)]


def _asks_for(text: str, symbol: str) -> AsksFor:
    if symbol:
        return "symbol"
    if _OF_DOCUMENTATION.search(text):
        return "documentation"
    spoken = re.findall(r"[a-z]+", text.lower())
    asked: tuple[AsksFor, ...] = ("where", "how", "what", "why", "who")
    return next((word for word in asked if word in spoken[:4]), "")
