"""Words of a question that stand in a chunk just so: whoever pastes a message of a program asks for the line that says it, and who names
an option of a command ("--depot") for where it is read or told of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag.index.chunk_table import ChunkTable
from rag.retrieval.query import STOP_WORDS, Query

_SEGMENT = re.compile(r"[A-Za-z'-]+(?: [A-Za-z'-]+){2,}")  # between names, numbers and marks, which differ from run to run
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+")
_OF_FLAG = 0.5
_MOST_CHARS = 2_000
_MOST_SEGMENTS = 12
_RUN = 3  # words that stand together by chance, unless each of them says something
_WHOLE = 6  # words of a message that is known when all of them are found


def said_in(query: Query, rows: Sequence[int], chunks: ChunkTable) -> Mapping[int, float]:
    """Of these rows, how much of what the question says stands there word by word, 0 to 1; without those where nothing does."""
    text = query.long.title if query.long else query.text
    segments, flags = segments_of(text), _flags_of(text)
    if query.symbol or not (segments or flags):
        return {}
    found = {}
    for row in rows:
        record = chunks.written(row)
        share = max((_share(segment, record) for segment in segments), default=0.0)
        if share < _OF_FLAG and any(flag.search(record) for flag in flags):
            share = _OF_FLAG
        if share:
            found[row] = share
    return found


def _flags_of(text: str) -> list[re.Pattern[bytes]]:
    names = dict.fromkeys(flag.lower().encode() for flag in _FLAG.findall(text[:_MOST_CHARS]))
    return [re.compile(rb"(?<![\w-])" + re.escape(name) + rb"(?![\w-])") for name in list(names)[:_MOST_SEGMENTS]]


def segments_of(text: str) -> list[list[str]]:
    """Runs of three and more plain words, in lower case."""
    return [match[0].lower().split(" ") for match in _SEGMENT.finditer(text[:_MOST_CHARS])][:_MOST_SEGMENTS]


def _share(words: Sequence[str], text: bytes) -> float:
    """The longest run of these words in a text, less two words, against a whole message."""
    longest = 0
    start = 0
    while start + max(longest, _RUN - 1) < len(words):
        end = start + max(longest + 1, _RUN)
        while end <= len(words) and " ".join(words[start:end]).encode() in text:
            if end - start > _RUN or STOP_WORDS.isdisjoint(words[start:end]):
                longest = end - start
            end += 1
        start += 1
    return (longest - 2) / (max(len(words), _WHOLE) - 2) if longest else 0.0
