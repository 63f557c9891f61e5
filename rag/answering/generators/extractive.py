"""The generator that needs no language model: it names the places, shows what stands there, and says that no model wrote it.

A result counts as relevant if a word of the question, other than the commonest words of questions, occurs in its text, path or symbol, or
if its cosine similarity is at least 0.30 (all-MiniLM-L6-v2 puts unrelated text and code mostly below 0.2). The rule is meant to err on the
side of showing: it only declines where a question has nothing to do with the repository.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence

from rag.answering.generators.stream import ReportedStream, StreamReport
from rag.index.tokens import terms
from rag.retrieval.query import message_of
from rag.types import PROSE, Chunk, ContextChunk, GenerationRequest, Kind

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
# Lines of prose that are no sentences: headings, rules, fences, directives, fields, HTML, tables, images.
_MARKUP = re.compile(r"\s*(?:#|[=~^*-]{3,}|```|\.\. |:\w+:|<|\||!\[)")
_INDENTED = re.compile(r"(?: {3,}|\t)\S")
_COMMENT = re.compile(r"\"\"\"|\'\'\'|#(?!\w)|//|/\*|\*\s|--\s|;;|<!--")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
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
    asked = question_terms(message_of(request.question).asked, request.repository)
    places = choose([entry for entry in request.context if relevant(entry, asked)], most)
    if not places:
        return
    count = "This is the place that matches" if len(places) == 1 else f"These are the {len(places)} places that match"
    yield f"{count} your question best. No language model wrote this: it is what stands in the files.\n\n"
    for entry in places:
        yield describe(entry, asked)


def question_terms(question: str, repository: str = "") -> frozenset[str]:
    """The question's words and parts of identifiers that could tell one file from another: the repository's own name cannot."""
    telling = frozenset(term for term in terms(question) if len(term) > 1 and term not in _COMMON)
    return telling - frozenset(terms(repository)) or telling


def relevant(entry: ContextChunk, asked: frozenset[str]) -> bool:
    scores = entry.result.scores
    alike = scores.get("similarity", 0.0) >= _LEAST_SIMILARITY or scores.get("setup", 0.0) >= _LEAST_SETUP
    return alike or bool(_shared(entry.result.chunk, asked))


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


def describe(entry: ContextChunk, asked: frozenset[str]) -> str:
    """One item of the list: what and where, its header, what its documentation says or the line that matches best."""
    chunk = entry.result.chunk
    where = f"`{_code(chunk.path)}`, {_lines(chunk)} [{entry.number}]"
    name = _name(chunk)
    lines = [f"- **{name}** in {where}" if name else f"- {where}"]
    if chunk.signature:
        lines.append(f"  `{_code(chunk.signature)}`")
    if chunk.doc:
        lines.append(f"  {_prose(chunk.doc)}")
        telling = _telling_line(chunk, asked)
        more = _count(telling, asked) > max(1, _count(chunk.doc, asked), _count(chunk.signature, asked))
        if more and (_COMMENT.match(telling) or re.search(r"[=(){};]", telling)):  # not a line from the middle of a doc comment
            lines.append(f"  {_line(telling)}")
    elif chunk.language in PROSE or chunk.kind is Kind.SECTION:
        if sentence := _first_sentence(chunk, asked):
            lines.append(f"  {sentence}")
    elif telling := _telling_line(chunk, asked):
        lines.append(f"  {_line(telling)}")
    if shared := _told(_shared(chunk, asked)):
        lines.append(f"  Matches: {', '.join(shared)}.")
    return "\n".join(lines) + "\n"


def _shared(chunk: Chunk, asked: frozenset[str]) -> frozenset[str]:
    return asked & frozenset(terms("\n".join((chunk.path, chunk.symbol, chunk.text))))


def _count(line: str, asked: frozenset[str]) -> int:
    """How many of the question's words stand in a line; of a very long one, in its beginning."""
    return len(asked.intersection(terms(line[:500])))


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
    if _COMMENT.match(line) and (words := re.sub(r"^[:\s\"'#/*;!-]+|[\s\"'*/-]+$", "", line)):
        return _prose(words)
    return f"`{_code(line)}`"


def _first_sentence(chunk: Chunk, asked: frozenset[str]) -> str:
    """Of a section: the sentence with most words of the question, else the first; what is no prose is passed over. Indented text counts
    only where there is no other: it is mostly code, but the body of a directive in reStructuredText."""
    text = _FENCED.sub("\n", chunk.text)
    speaking = _sentences(text, chunk.symbol, indented=False) or _sentences(text, chunk.symbol, indented=True)
    return _prose(max(speaking, key=lambda sentence: _count(sentence, asked))) if speaking else ""


def _sentences(text: str, heading: str, *, indented: bool) -> list[str]:
    lines = (
        "" if _MARKUP.match(line) or line.strip() == heading or (_INDENTED.match(line) and not indented) else line
        for line in text.split("\n")
    )
    paragraphs = re.split(r"\n{2,}", "\n".join(line.strip() for line in lines))
    sentences = (sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.!?:])\s+", paragraph.strip()))
    return [sentence for sentence in sentences if re.search(r"\w{2}\W+\w", sentence)]


def _code(text: str) -> str:
    """For between backticks, on one line."""
    text = re.sub(r",?\s+(?=[)\]])", "", re.sub(r"(?<=[(\[])\s+", "", " ".join(text.replace("`", "'").split())))
    return _short(text)


def _prose(text: str) -> str:
    """A file's own words as words: markup of reStructuredText and Markdown taken off, and nothing left that reads as a citation."""
    text = re.sub(r":[a-z:+-]{2,20}:`~?\.?([^`<>]*?)(?:\s*<[^`<>]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\[\]]*)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"\[(?=[^\[\]]*\d)([^\[\]]*)\]|【([^【】]*)】", r"(\1\2)", text)
    return _short(" ".join(text.replace("`", "").replace("**", "").split()))


def _short(text: str) -> str:
    """Cut between words: half an identifier would be an invented one."""
    return text if len(text) <= _LINE_CHARS else re.sub(r"\w+$", "", text[:_LINE_CHARS]).rstrip() + " …"
