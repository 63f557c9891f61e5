"""From a model's chunk numbers to footnotes.

The model emits numbers only; path, lines, commit and permalink are code's. A number that is not in the context is dropped and counted.
Footnotes are numbered 1..k in the order in which they first appear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.answering.statements import CITATION
from rag.types import Citation, ContextChunk

_GROUP = re.compile(rf"[ \t]*(?:{CITATION})(?:[ \t]*(?:{CITATION}))*", re.IGNORECASE)
_ONE = re.compile(CITATION, re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,9})(?:\s*[-–]\s*[#^]?(\d{1,9}))?")
_LONGEST_RANGE = 50

# Stand for a footnote while the text around it is being defanged; taken out of the model's own text beforehand.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


class CitationResolver:
    """Knows the context of one answer; remembers which chunk has which footnote."""

    def __init__(self, context: Sequence[ContextChunk], commit: str) -> None:
        self._context = {entry.number: entry for entry in context}
        self._commit = commit
        self._footnotes: dict[int, Citation] = {}  # context number -> citation
        self.dropped = 0

    @property
    def citations(self) -> tuple[Citation, ...]:
        """By footnote number, 1..k."""
        return tuple(sorted(self._footnotes.values(), key=lambda citation: citation.number))

    def mark(self, text: str) -> tuple[str, list[ContextChunk]]:
        """Text outside code with each citation replaced by a mark that `unmark` turns into "[n]"; the chunks that it cites."""
        cited: list[ContextChunk] = []

        def replace(match: re.Match[str]) -> str:
            marks = ""
            for number in dict.fromkeys(_numbers(match.group())):
                entry = self._context.get(number)
                if entry is None:
                    self.dropped += 1
                    continue
                cited.append(entry)
                marks += f"{_OPEN}{self._footnote(entry).number}{_CLOSE}"
            lead = match.group()[: len(match.group()) - len(match.group().lstrip(" \t"))]
            return lead + marks if marks else ""

        return _GROUP.sub(replace, text), cited

    def cited_by(self, chunks: Sequence[ContextChunk]) -> tuple[Citation, ...]:
        """The citations of these chunks, each once, in order of their footnotes."""
        return tuple(sorted({self._footnote(entry) for entry in chunks}, key=lambda citation: citation.number))

    def _footnote(self, entry: ContextChunk) -> Citation:
        known = self._footnotes.get(entry.number)
        if known is None:
            chunk = entry.result.chunk
            known = Citation(
                number=len(self._footnotes) + 1,
                path=chunk.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                commit=self._commit,
                permalink=entry.result.permalink,
                chunk_id=chunk.id,
                also=entry.result.twins,
            )
            self._footnotes[entry.number] = known
        return known


def unmark(text: str) -> str:
    """Marks become footnote numbers in brackets."""
    return _MARK.sub(r"[\1]", text)


def without_citations(text: str) -> str:
    """For text that goes into another prompt: its numbers belong to another context."""
    return _GROUP.sub("", text)


def _numbers(group: str) -> Iterator[int]:
    for one in _ONE.findall(group):
        body = one.split("†")[0] if one.startswith("【") else one
        for match in _RANGE.finditer(body):
            first, last = int(match.group(1)), int(match.group(2) or match.group(1))
            if first <= last < first + _LONGEST_RANGE:
                yield from range(first, last + 1)
            else:
                yield from (first, last)
