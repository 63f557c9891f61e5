"""The generator that needs no language model: it names the places, shows what stands there, and says that no model wrote it.

A result counts as relevant if a word of the question, other than the commonest words of questions, occurs in its text, path or symbol, or
if its cosine similarity is at least 0.30 (all-MiniLM-L6-v2 puts unrelated text and code mostly below 0.2). The rule is meant to err on the
side of showing: it only declines where a question has nothing to do with the repository.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from types import MappingProxyType

from rag.answering.generators.members import COMMENT, member_meant
from rag.answering.generators.sentences import sentences_of
from rag.answering.generators.stream import ReportedStream, StreamReport
from rag.index.stems import stem
from rag.index.tokens import terms
from rag.retrieval.query import message_of, understand
from rag.retrieval.setup.lines import declaring
from rag.retrieval.setup.subject import subject_of_setup
from rag.types import Chunk, ContextChunk, GenerationRequest, Kind, is_prose

PLACES = 4
_BEST = 3
_LEAST_SIMILARITY = 0.30
_LEAST_SETUP = 1.0  # of a file that says how the repository is set up, in its own words
_LINE_CHARS = 140
# The commonest words of questions: they tell no file from another.
_COMMON_WORDS = """
a an and any are as at be been but by can could do does did doing done for from get gets give had has have having here how i if in into is
it its know let like make makes me my need of on one or our please should show so some tell than that the their them then there these they
this those to up us use used uses using want was way we were what when where which who why will with work works would you your
find happen happens happening mean means repo repository code file files
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_POD = re.compile(r"\b[BCFILS]<(?:([^<>|]*)\|[^<>]*|([^<>]*))>")  # Perl's markup of words
_DEFINITIONS = {Kind.FUNCTION, Kind.METHOD, Kind.CLASS}


class ExtractiveGenerator:
    """Shows up to `places` results, of distinct files where there are enough. Writes nothing if none is relevant."""

    def __init__(self, places: int = PLACES) -> None:
        self._places = places

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def local(self) -> bool:
        return True

    def write(self, request: GenerationRequest) -> ReportedStream:
        return ReportedStream(_run(request, self._places), StreamReport(finish_reason="stop"))


async def _run(request: GenerationRequest, most: int) -> AsyncGenerator[str, None]:
    asked = question_terms(message_of(request.question).asked, request.repository, request.read_as)
    places = choose(_of_the_setup([entry for entry in request.context if relevant(entry, asked)]), most)
    if not places:
        return
    count = "This is the place that matches" if len(places) == 1 else f"These are the {len(places)} places that match"
    yield f"{count} your question best. No language model wrote this: it is what stands in the files.\n\n"
    declares = _declaring(request.question, request.repository, asked)
    for entry in places:
        yield describe(entry, asked, declares)


def question_terms(question: str, repository: str = "", read_as: Mapping[str, str] = MappingProxyType({})) -> frozenset[str]:
    """The question's words and parts of identifiers that could tell one file from another: the repository's own name cannot. `read_as`:
    misspelt ones, and what was searched for."""
    telling = frozenset(read_as.get(term, term) for term in terms(question) if len(term) > 1 and term not in _COMMON)
    return telling - frozenset(terms(repository)) or telling


def relevant(entry: ContextChunk, asked: frozenset[str]) -> bool:
    scores = entry.result.scores
    alike = scores.get("similarity", 0.0) >= _LEAST_SIMILARITY or scores.get("setup", 0.0) >= _LEAST_SETUP
    chunk = entry.result.chunk
    return alike or not asked.isdisjoint(terms("\n".join((chunk.path, chunk.symbol, chunk.text))))


def _of_the_setup(entries: list[ContextChunk]) -> list[ContextChunk]:
    """Where files say how the repository is set up, they and documentation: code that holds a word of it as well answers nothing."""
    saying = [entry for entry in entries if entry.result.scores.get("setup", 0.0) >= _LEAST_SETUP]
    return (
        [entry for entry in entries if entry in saying or is_prose(entry.result.chunk.path, entry.result.chunk.language)]
        if saying
        else entries
    )


def choose(entries: Sequence[ContextChunk], most: int) -> list[ContextChunk]:
    """The best of each file first; a second place of a file only where it is among the best three, or where files run out below three.
    In order of rank."""
    chosen: list[ContextChunk] = []
    for position, entry in enumerate(entries):
        others = sum(entry.result.chunk.path == other.result.chunk.path for other in chosen)
        if len(chosen) < most and (not others or (others == 1 and position < _BEST)):
            chosen.append(entry)
    for entry in entries:
        if len(chosen) < min(_BEST, most) and entry not in chosen:
            chosen.append(entry)
    return sorted(chosen, key=lambda entry: entry.number)


def _declaring(question: str, repository: str, asked: frozenset[str]) -> Callable[[ContextChunk], str]:
    """Where the question asks how the repository is set up: what shows the line of a chunk that declares it."""
    kinds = understand(question).asks_for_setup
    subject = subject_of_setup(question, kinds, repository) if kinds else []

    def line(entry: ContextChunk) -> str:
        return declaring(kinds, subject, asked, entry.result.chunk.text) if entry.result.scores.get("setup") else ""

    return line


def describe(entry: ContextChunk, asked: frozenset[str], declares: Callable[[ContextChunk], str] = lambda entry: "") -> str:
    """One item of the list: what and where, its header, what its documentation says or the line that matches best. `declares`: the line
    that declares what the question asks of the repository's setup, "" for none."""
    chunk, declared = entry.result.chunk, declares(entry)
    where = f"`{_code(chunk.path)}`, {_lines(chunk)} [{entry.number}]"
    matches = _told(_shared(chunk, asked))
    if not declared:
        chunk = member_meant(chunk, lambda text: _count(text, asked)) or chunk
    name = _name(chunk) if not declared or chunk.symbol.rpartition(".")[2] in declared else ""  # a chunk of several keys has one's name
    lines = [f"- **{name}** in {where}" if name else f"- {where}"]
    lines += [f"  {line}" for line in ([_shown(declared, chunk)] if declared else _what_it_says(chunk, asked))]
    if matches:
        lines.append(f"  Matches: {', '.join(matches)}.")
    return "\n".join(lines) + "\n"


def _shown(declared: str, chunk: Chunk) -> str:
    return _prose(declared) if is_prose(chunk.path, chunk.language) else f"`{_code(declared)}`"


def _what_it_says(chunk: Chunk, asked: frozenset[str]) -> list[str]:
    header = [f"`{_code(chunk.signature)}`"] if chunk.signature else []
    if chunk.doc:
        telling = _telling_line(chunk, asked)
        more = _count(telling, asked) > max(1, _count(chunk.doc, asked), _count(chunk.signature, asked)) and (
            COMMENT.match(telling) or re.search(r"[=(){};]", telling)  # not a line from the middle of a doc comment
        )
        return [*header, _prose(chunk.doc), *([_line(telling)] if more else [])]
    if is_prose(chunk.path, chunk.language) or chunk.kind is Kind.SECTION:
        sentence = _telling_sentence(chunk, asked)
        return [*header, *([sentence] if sentence else [])]
    telling = _telling_line(chunk, asked)
    return [*header, *([_line(telling)] if telling else [])]


def _shared(chunk: Chunk, asked: frozenset[str]) -> frozenset[str]:
    """The words of the question that a chunk holds, or else in another form: "fibers" where it says "Fiber"."""
    held = frozenset(terms("\n".join((chunk.path, chunk.symbol, chunk.text))))
    just_so = asked & held
    others = frozenset(map(stem, held)) - frozenset(map(stem, just_so))
    return just_so | frozenset(term for term in asked if stem(term) in others)


def _count(line: str, asked: frozenset[str]) -> int:
    """How many of the question's words stand in a line; of a very long one, in its beginning."""
    held = frozenset(map(stem, terms(line[:500])))
    return sum(term in held for term in frozenset(map(stem, asked)))


def _told(shared: frozenset[str]) -> list[str]:
    """Without the parts of identifiers that are named whole."""
    whole = [term for term in shared if len(set(terms(term))) > 1]
    parts = {part for term in whole for part in terms(term)} - set(whole)
    return sorted(shared - parts)[:8]


def _name(chunk: Chunk) -> str:
    if not chunk.symbol:
        return ""
    return f"“{_prose(chunk.symbol)}”" if chunk.kind is Kind.SECTION else f"`{_code(chunk.symbol)}`"


def _lines(chunk: Chunk) -> str:
    return f"line {chunk.start_line}" if chunk.start_line == chunk.end_line else f"lines {chunk.start_line}–{chunk.end_line}"


def _telling_line(chunk: Chunk, asked: frozenset[str]) -> str:
    """The line that holds most of the question's words; without any, the first that says something. "" if it repeats the signature."""
    lines = [line.strip() for line in chunk.text.split("\n")]
    speaking = [line for line in lines if re.search(r"\w{2}", line)]
    if not speaking:
        return ""
    best = max(speaking, key=lambda line: _count(line, asked))
    if chunk.kind in _DEFINITIONS and chunk.signature and (best.rstrip(" :{") in chunk.signature or not _count(best, asked)):
        return ""
    return best


def _line(line: str) -> str:
    """A line of code as code, one of a comment as words."""
    if COMMENT.match(line) and (words := re.sub(r"^[:\s\"'#/*;!-]+|[\s\"'*/-]+$", "", line)):
        return _prose(words)
    return f"`{_code(line)}`"


def _telling_sentence(chunk: Chunk, asked: frozenset[str]) -> str:
    """Of a section: the sentence with most words of the question, else the first."""
    text = _POD.sub(r"\1\2", chunk.text) if chunk.language == "perl" else chunk.text
    speaking = sentences_of(text, chunk.symbol, chunk.language)
    return _prose(max(speaking, key=lambda sentence: _count(sentence, asked))) if speaking else ""


def _code(text: str) -> str:
    """For between backticks, on one line."""
    text = re.sub(r",?\s+(?=[)\]])", "", re.sub(r"(?<=[(\[])\s+", "", " ".join(text.replace("`", "'").split())))
    return _short(text)


def _prose(text: str) -> str:
    """A file's own words as words: markup of reStructuredText and Markdown taken off, and nothing left that reads as a citation."""
    text = re.sub(r":[a-z:+-]{2,20}:`~?\.?([^`<>]*?)(?:\s*<[^`<>]*>)?`", r"\1", text)
    text = re.sub(r"\{@(?:link(?:plain)?|code|literal|value|see)\s+(?:[^{}|]*\|\s*)?([^{}|]*)\}", r"\1", text)  # of doc comments
    text = re.sub(r"\[([^\[\]]*)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"\[(?=[^\[\]]*\d)([^\[\]]*)\]|【([^【】]*)】", r"(\1\2)", text)
    return _short(" ".join(text.replace("`", "").replace("**", "").split()))


def _short(text: str) -> str:
    """Cut between words: half an identifier would be an invented one."""
    return text if len(text) <= _LINE_CHARS else re.sub(r"\w+$", "", text[:_LINE_CHARS]).rstrip() + " …"
