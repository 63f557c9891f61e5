"""What a question says as it stands in a file (a name that nothing here defines, a flag, a key, a quoted text, an error message), and which
chunks hold it so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag.index.chunk_table import ChunkTable
from rag.index.generation import Generation
from rag.index.tokens import terms
from rag.retrieval.paths import path_facts
from rag.retrieval.places import is_file
from rag.retrieval.query import Query, bare_name
from rag.types import Kind

_MOST = 8  # of a question
_SHORTEST, _LONGEST = 3, 200  # characters
_COMMON = 3  # files that may hold one before it says less
_OF_A_NAME, _OF_TWO_WORDS = 0.5, 0.75  # what these say against a text of more words
_OF_A_TEST = 0.5  # which repeats what it checks
_LOOKED = 20  # definitions
_MOST_ROWS = 200  # that hold a name
_CODE = {Kind.FUNCTION, Kind.METHOD, Kind.CLASS}
_HYPHENATED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_WORD = re.compile(r"\w+")
_FLAG = re.compile(r"(?<![\w/.-])--?(?=\w[\w-]*\w)[A-Za-z][\w-]+")
_KEY = re.compile(r"(?<![\w/.-])(?:[a-z]\w{0,80}(?:[.-][a-z0-9]\w{0,80}){1,8}|\w{0,80}[A-Za-z0-9]_\w{1,80})(?![\w/(.])")
_NAME = re.compile(r"[\w.-]*[\d_.-][\w.-]*")  # not an ordinary word: those BM25 weighs
_QUOTED = re.compile(r"`([^`]{1,200})`|\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|(?<!\w)'([^'\n]{1,200})'(?!\w)")
_MESSAGE = re.compile(r"(?:\b\w*(?:Error|Exception|Warning|Panic)|\b(?:error|fatal|warning|panic|failed))\b\]?: ?(.{8,200})", re.IGNORECASE)
_VARIABLE = re.compile(r"[\"'`“”][^\"'`“”]*[\"'`“”]|\S*[/\\]\S+|\b\d[\w.]*|<[^>]*>|\{[^}]*\}|[.:;,!]+(?=\s|$)")
_TWO_WORDS = re.compile(r"\w{2,}\W+\w{2,}")


@dataclass(frozen=True, slots=True)
class Literals:
    """`files`: number of a file -> how much it says that the file holds what the question says, 0 to 1; `rows`: likewise."""

    files: Mapping[int, float] = field(default_factory=dict)
    rows: Mapping[int, float] = field(default_factory=dict)


NO_LITERALS = Literals()


def literals_in(text: str) -> tuple[str, ...]:
    """In lower case, white space as one blank, longest first. Pure."""
    quoted = [one.strip() for found in _QUOTED.findall(text) for one in found if one.strip()]
    fixed = [part.strip() for message in _MESSAGE.findall(text) for part in _VARIABLE.split(message) if _TWO_WORDS.search(part)]
    plain = _QUOTED.sub(" ", text)
    found = [*quoted, *fixed, *_FLAG.findall(plain), *_KEY.findall(plain)]
    found = [one for one in found if not is_file(one)]
    found = [one for one in found if _TWO_WORDS.search(one) or _NAME.fullmatch(one)]
    kept = {" ".join(one.lower().split()) for one in found if re.search(r"[A-Za-z]{2}", one)}
    return tuple(sorted((one for one in kept if _SHORTEST <= len(one) <= _LONGEST), key=lambda one: (-len(one), one))[:_MOST])


def literals_found(query: Query, found: Sequence[int], generation: Generation) -> Literals:
    """`found`: rows that words brought, which are looked into. A name that is defined here is none: see rag.retrieval.definitions.
    Raises: IndexCorrupt."""
    chunks = generation.chunks
    sought = literals_in(query.long.title if query.long else query.text)
    own = generation.info.repository.lower()
    sought = tuple(one for one in sought if one not in own and not _defined(one, chunks))
    asked = set(query.terms)
    rows: dict[int, float] = {}
    files: dict[int, float] = {}
    for literal in sought:
        named = generation.sparse.holders(literal)[:_MOST_ROWS].tolist() if _WORD.fullmatch(literal) else None
        holding = _holding(literal, found, chunks) if named is None else named
        numbers = {row: int(chunks.path_numbers[row]) for row in holding}
        much = max(_telling(literal), len(asked.intersection(terms(literal))) / max(1, len(asked))) * min(
            1.0, _COMMON / max(1, len(set(numbers.values())))
        )
        for row, number in numbers.items():
            here = much * (_OF_A_TEST if path_facts(chunks.paths[number]).test else 1.0)
            rows[row] = max(rows.get(row, 0.0), here)
            files[number] = max(files.get(number, 0.0), here)
    return Literals(files, rows)


def _holding(literal: str, rows: Sequence[int], chunks: ChunkTable) -> list[int]:
    """Of these rows those that hold it. Only chunks with its longest word are read."""
    word = max(_WORD.findall(literal), key=len)
    likely = [row for row in rows if word.encode() in chunks.written(row)] if word.isascii() else rows
    written = _as_written(literal)
    return [row for row, chunk in zip(likely, chunks.get(likely), strict=True) if written.search(_plain(chunk.text))]


def _defined(literal: str, chunks: ChunkTable) -> bool:
    """Whether a name is defined here. The last part of a dotted key often is, as a variable: that is another thing."""
    rows = chunks.defines.defining(bare_name(literal))[:_LOOKED].tolist()
    return bool(rows) and ("." not in literal or any(chunk.kind in _CODE for chunk in chunks.get(rows)))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _as_written(literal: str) -> re.Pattern[str]:
    """A flag is declared without its dashes, in quotes unless several words make it unmistakable; what only a hyphen joins is English too,
    but not in quotes. A name is no part of a longer one."""
    bare = re.escape(literal.lstrip("-"))
    whole = rf"(?<![\w-]){re.escape(literal)}(?![\w-])"
    quoted = rf"[\"']{bare}[\"']"
    if literal.startswith("-"):
        return re.compile(rf"{whole}|(?<![\w-]){bare}(?![\w-])" if "-" in literal.lstrip("-") else f"{whole}|{quoted}")
    return re.compile(quoted if _HYPHENATED.fullmatch(literal) else re.escape(literal) if " " in literal else whole)


def _telling(literal: str) -> float:
    """The more words a text has, the surer it was copied from where it stands."""
    return 1.0 if literal.count(" ") > 1 else _OF_TWO_WORDS if " " in literal else _OF_A_NAME
