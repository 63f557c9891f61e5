"""Words of a question that stand in a chunk just so: whoever pastes a message of a program asks for the line that says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag.index.chunk_table import ChunkTable
from rag.retrieval.query import Query
from rag.retrieval.stop_words import STOP_WORDS

_SEGMENT = re.compile(r"[A-Za-z'-]+(?: [A-Za-z'-]+){2,}")  # between names, numbers and marks, which differ from run to run
_MOST_CHARS = 2_000
_MOST_SEGMENTS = 12
_RUN = 3  # words that stand together by chance, unless each of them says something
_WHOLE = 6  # words of a message that is known when all of them are found


@dataclass(frozen=True, slots=True)
class Said:
    """How much of a question stands somewhere word by word, 0 to 1: the `most` of all chunks; of code (prose says everything in so many
    words) row -> its share, and number of a file -> that of its best chunk."""

    most: float = 0.0
    rows: Mapping[int, float] = field(default_factory=dict)
    files: Mapping[int, float] = field(default_factory=dict)


NOTHING_SAID = Said()


def said_by(query: Query, rows: Sequence[int], chunks: ChunkTable) -> Said:
    """Of these rows. Raises: IndexCorrupt."""
    found = said_in(query, rows, chunks)
    if not found:
        return NOTHING_SAID
    of_code = {row: share for row, share in found.items() if not chunks.files.prose[int(chunks.path_numbers[row])]}
    files: dict[int, float] = {}
    for row, share in of_code.items():
        number = int(chunks.path_numbers[row])
        files[number] = max(files.get(number, 0.0), share)
    return Said(max(found.values()), of_code, files)


def said_in(query: Query, rows: Sequence[int], chunks: ChunkTable) -> Mapping[int, float]:
    """Of these rows, how much of what the question says stands there word by word, 0 to 1; without those where nothing does."""
    text = query.long.title if query.long else query.text
    messages = [_Message.of(words) for words in segments_of(text)]
    if query.symbol or not messages:
        return {}
    records = [chunks.written(row) for row in rows]
    together = b"\0".join(records)  # most questions are said nowhere, which is found out in one go
    if not (messages := [message for message in messages if any(three in together for three in message.threes)]):
        return {}
    shares = (max(message.share(record) for message in messages) for record in records)
    return {row: share for row, share in zip(rows, shares, strict=True) if share}


def segments_of(text: str) -> list[list[str]]:
    """Runs of three and more plain words, in lower case."""
    return [match[0].lower().split(" ") for match in _SEGMENT.finditer(text[:_MOST_CHARS])][:_MOST_SEGMENTS]


@dataclass(frozen=True, slots=True)
class _Message:
    """`words`: plain words that follow each other in a question; `threes`: every three of them, as they stand in a text."""

    words: tuple[str, ...]
    threes: tuple[bytes, ...]

    @classmethod
    def of(cls, words: Sequence[str]) -> _Message:
        threes = tuple(" ".join(words[at : at + _RUN]).encode() for at in range(len(words) - _RUN + 1))
        return cls(tuple(words), threes)

    def share(self, text: bytes) -> float:
        """The longest run of its words in a text, less two words, against a whole message."""
        found = [at for at, three in enumerate(self.threes) if three in text]
        longest = max((self._run_from(at, text) for at in found), default=0)
        return (longest - 2) / (max(len(self.words), _WHOLE) - 2) if longest else 0.0

    def _run_from(self, at: int, text: bytes) -> int:
        end = at + _RUN
        while end < len(self.words) and " ".join(self.words[at : end + 1]).encode() in text:
            end += 1
        telling = sum(word not in STOP_WORDS for word in self.words[at:end])
        return 0 if telling < (_RUN if end - at == _RUN else 1) else end - at
