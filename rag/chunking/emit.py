"""Outline + lines -> chunks: cuts, names each run of rows after the definition it mostly holds, and guards the window.

The text before the lines counts too: the path is always kept, the module's docstring and the symbol are shortened to what is left for
them. Only where the path alone nearly fills the window (hundreds of characters) can the invariant not be kept; the model then cuts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from rag.chunking.outline import ATTACHED, Outline
from rag.chunking.segment import Limits, Rows, segment
from rag.chunking.settings import ChunkingSettings
from rag.chunking.tokens import TokenBudget
from rag.types import Chunk, Document, Kind

_LEAST_TEXT = 16  # tokens


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands before the lines in the encoded text: its tokens without the symbol, and what the symbol may take."""

    module_doc: str
    tokens: int
    symbol_tokens: int


class Emitter:
    """Cuts one document by its outline."""

    def __init__(self, document: Document, lines: list[str], outline: Outline, budget: TokenBudget, settings: ChunkingSettings) -> None:
        self._document = document
        self._lines = lines
        self._outline = outline
        self._budget = budget
        self._settings = settings
        self._head = self._make_head()
        self._symbols: dict[int, str] = {}
        soft = settings.prose_max_chars if outline.prose else settings.max_chars
        longest = max((budget.of_line(self._symbol(i)) for i in range(len(outline.definitions))), default=0)
        left = settings.window_tokens - budget.special - self._head.tokens - min(longest, self._head.symbol_tokens)
        self._limits = Limits(settings.min_chars, soft, soft + soft // 2, max(left, _LEAST_TEXT))
        self._rows = Rows(lines, budget.of_lines(lines))
        # A definition begins with its comment, however long, and its name stands where that ends.
        self._by_row = sorted(outline.definitions, key=lambda definition: definition.row)
        self._rows_of_names = [definition.row for definition in self._by_row]
        self._owner = self._owners()

    def chunks(self) -> list[Chunk]:
        runs = segment(self._rows, self._costs(), self._limits, self._classes())
        if self._outline.overlap:
            runs = self._overlapping(runs)
        return [chunk for start, end in runs for chunk in self._emit(start, end)]

    def _costs(self) -> list[float]:
        """The outline's prices, with no beginning inside a definition that fits a chunk: it stays whole, and there is less to weigh."""
        costs, rows, beyond = list(self._outline.costs), self._rows, 0
        for definition in self._outline.definitions:
            start, end = definition.start, rows.trimmed[definition.end + 1]
            if start >= beyond and rows.size(start, end) <= self._limits.soft and rows.fit(start, end, self._limits):
                costs[start + 1 : end] = [ATTACHED] * (end - start - 1)
                beyond = end
        return costs

    def _classes(self) -> dict[int, tuple[int, int]]:
        classes: dict[int, tuple[int, int]] = {}
        for definition in self._outline.definitions:
            parent = definition.parent
            if definition.kind is Kind.METHOD and parent >= 0:
                outer = self._outline.definitions[parent]
                if outer.kind is Kind.CLASS and outer.start not in classes:
                    classes[outer.start] = (definition.start, outer.end + 1)
        return classes

    def _overlapping(self, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Each run but the first takes in the last rows of the one before, up to the share of overlap and within the limits."""
        widened = runs[:1]
        for (before, _), (start, end) in pairwise(runs):
            first = start
            room = self._outline.overlap * self._limits.soft
            while first - 1 > before and self._rows.size(first - 1, start) <= room and self._rows.fit(first - 1, end, self._limits):
                first -= 1
            while first < start and self._rows.blank[first]:
                first += 1
            widened.append((first, end))
        return widened

    def _emit(self, start: int, end: int) -> Iterator[Chunk]:
        pending = [(start, end)]
        while pending:
            start, end = pending.pop()
            text = "\n".join(self._lines[start:end])
            chunk = self._describe(start, end, text)
            if len(text) <= self._limits.hard and self._fits(chunk, self._rows.tokens[end] - self._rows.tokens[start]):
                yield chunk
            elif end - start > 1:  # the estimate of an unusual tokenizer was too low
                middle = self._middle(start, end)
                pending.append((middle, end))
                pending.append((start, self._rows.trimmed[middle]))
            else:
                yield from self._pieces(start)

    def _fits(self, chunk: Chunk, text_tokens: int) -> bool:
        estimate = text_tokens + self._head.tokens + self._budget.of_line(chunk.symbol)
        return self._budget.fits(chunk.encoded_text, estimate, self._settings.window_tokens)

    def _middle(self, start: int, end: int) -> int:
        rows = [row for row in range(start + 1, end) if not self._rows.blank[row]]
        inner = [row for row in rows if start + (end - start) // 4 <= row <= end - (end - start) // 4] or rows
        return min(inner, key=lambda row: (self._outline.costs[row], abs(2 * row - start - end)))

    def _pieces(self, row: int) -> Iterator[Chunk]:
        """A line too long for a chunk: consecutive parts of it, cut at white space where there is some, as many as the settings allow."""
        line = self._lines[row]
        position = 0
        for _ in range(self._settings.max_pieces_per_line):
            while position < len(line) and line[position].isspace():
                position += 1
            if position == len(line):
                return
            length = min(self._limits.hard, len(line) - position)
            while True:
                stop = position + length
                if stop < len(line):
                    space = max(line.rfind(" ", position + 1, stop), line.rfind("\t", position + 1, stop))
                    stop = space if space > position + length // 2 else stop
                text = line[position:stop].rstrip()
                chunk = self._describe(row, row + 1, text, piece=True)
                tokens = self._budget.of_text(text)
                if self._fits(chunk, tokens) or (length == 1) or (tokens <= _LEAST_TEXT and self._limits.tokens <= _LEAST_TEXT):
                    break
                length = max(1, min(length * 3 // 4, length * self._limits.tokens // max(tokens, 1)))
            yield chunk
            position = stop

    def _describe(self, start: int, end: int, text: str, *, piece: bool = False) -> Chunk:
        index = self._principal(start, end)
        principal = self._outline.definitions[index] if index >= 0 else None
        held = self._by_row[bisect_left(self._rows_of_names, start) : bisect_left(self._rows_of_names, end)]
        return Chunk(
            path=self._document.path,
            start_line=start + 1,
            end_line=end,
            kind=principal.kind if principal else self._outline.kind,
            language=self._document.language,
            text=text,
            symbol=self._symbol(index) if principal else "",
            scope=principal.scope if principal else "",
            defines=tuple(dict.fromkeys(d.name for d in held if not piece or d.name in text)),
            signature=principal.signature if principal else "",
            doc=principal.doc if principal else "",
            module_doc=self._head.module_doc,
        )

    def _principal(self, start: int, end: int) -> int:
        """The definition that the rows hold most of, -1 for none: a whole one counts with all its rows, a cut one with those of its own."""
        definitions, owner, chars = self._outline.definitions, self._owner, self._rows.chars
        weights: dict[int, int] = {}
        row = start
        while row < end:
            index = owner[row]
            step = row + 1
            # climb to the outermost definition that lies in these rows as a whole
            climbing = index
            while climbing >= 0 and start <= definitions[climbing].start and definitions[climbing].end < end:
                index, step = climbing, max(step, definitions[climbing].end + 1)
                climbing = definitions[climbing].parent
            weights[index] = weights.get(index, 0) + chars[step] - chars[row]
            row = step
        weights.pop(-1, None)
        if not weights:
            return -1
        principal = max(weights, key=lambda index: (weights[index], -index))
        # One variable among many does not name the chunk.
        few = definitions[principal].kind is Kind.MODULE and 2 * weights[principal] < chars[end] - chars[start]
        return -1 if few else principal

    def _owners(self) -> list[int]:
        owner = [-1] * len(self._lines)
        for index, definition in enumerate(self._outline.definitions):
            owner[definition.start : definition.end + 1] = [index] * (definition.end + 1 - definition.start)
        return owner

    def _make_head(self) -> _Head:
        window = self._settings.window_tokens
        path = self._budget.of_text(self._document.path)
        symbol = min(window // 8, max(0, window - self._budget.special - _LEAST_TEXT - path))
        module_doc = self._shortened(self._outline.module_doc, window // 3 - path - symbol, by_words=True)
        return _Head(module_doc, path + (self._budget.of_text(module_doc) + 1 if module_doc else 0), symbol)

    def _symbol(self, index: int) -> str:
        if index not in self._symbols:
            definition = self._outline.definitions[index]
            full = definition.name if self._outline.prose else definition.symbol
            self._symbols[index] = self._shortened(full, self._head.symbol_tokens, by_words=self._outline.prose)
        return self._symbols[index]

    def _shortened(self, text: str, tokens: int, *, by_words: bool) -> str:
        """Within so many tokens: prose loses its end, a symbol its outermost scopes; "" where nothing worth having is left."""
        if not text or tokens < 4:
            return ""
        while self._budget.of_text(text) > tokens or len(text) > 16 * tokens:
            if by_words and " " in text:
                text = text[: min(len(text), 16 * tokens + 1)].rpartition(" ")[0] or text[: len(text) // 2]
            elif not by_words and "." in text.strip("."):
                text = text.strip(".").partition(".")[2]
            elif len(text) > 1:
                text = text[: len(text) // 2]
            else:
                return ""
        return text


def chunk_by(document: Document, lines: list[str], outline: Outline, budget: TokenBudget, settings: ChunkingSettings) -> list[Chunk]:
    """The document's chunks, in order of their lines; none for one without text."""
    return Emitter(document, lines, outline, budget, settings).chunks()
