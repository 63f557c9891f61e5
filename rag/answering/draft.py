"""An answer while it is being written: raw text in, safe pieces out.

Each statement is cleaned, redacted, its citations resolved, its quotations checked, and defanged before it leaves. Nothing leaves before
the first citation that holds: an answer without any is an abstention, and nobody should have seen it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.citations import CitationResolver, unmark
from rag.answering.defang import defang_code, defang_text, looks_like_address, sweep_footnotes
from rag.answering.grounding import ungrounded
from rag.answering.prompts import NOT_IN_CONTEXT
from rag.answering.segments import Segment, clean, fence, inline
from rag.answering.statements import Statement, StatementSplitter
from rag.source.redaction import redact
from rag.types import AnswerPiece, Citation, ContextChunk


class Draft:
    """One attempt at one answer. `most_chars`: of raw text; what exceeds it is not read."""

    def __init__(self, context: Sequence[ContextChunk], commit: str, question: str, *, most_chars: int = 20_000) -> None:
        self._context = context
        self._question = question
        self._splitter = StatementSplitter()
        self._resolver = CitationResolver(context, commit)
        self._left = most_chars
        self._empty = True
        self._held: list[AnswerPiece] = []
        self._space = ""
        self._texts: list[str] = []
        self._ungrounded: dict[str, None] = {}

    @property
    def shown(self) -> bool:
        """Whether a piece has left, and with it a citation."""
        return bool(self._texts)

    @property
    def empty(self) -> bool:
        """Whether nothing but white space came."""
        return self._empty

    @property
    def full(self) -> bool:
        return self._left <= 0

    @property
    def text(self) -> str:
        """All that has left, as one text. Secrets that only show across statements are redacted here."""
        return redact("".join(self._texts).strip())[0]

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self._resolver.citations if self.shown else ()

    @property
    def dropped(self) -> int:
        return self._resolver.dropped

    @property
    def ungrounded(self) -> tuple[str, ...]:
        return tuple(self._ungrounded)

    def feed(self, text: str) -> list[AnswerPiece]:
        kept = text[: max(0, self._left)]
        self._left -= len(text)
        self._empty = self._empty and not text.strip()
        return self._pieces(self._splitter.feed(kept))

    def close(self) -> list[AnswerPiece]:
        """The last pieces. Without it, a statement that was not finished is never shown."""
        return self._pieces(self._splitter.close())

    def _pieces(self, statements: Sequence[Statement]) -> list[AnswerPiece]:
        ready: list[AnswerPiece] = []
        for statement in statements:
            if not statement.text.strip():
                self._space += statement.text
                continue
            text, cited = self._render(statement)
            if not text.strip():  # nothing was in it but numbers that do not exist
                continue
            self._held.append(AnswerPiece(self._space + text, self._resolver.cited_by(cited)))
            self._space = ""
            if (self.shown or cited) and not self._declines():
                ready += self._held
                self._texts += [piece.text for piece in self._held]
                self._held.clear()
        return ready

    def _declines(self) -> bool:
        """Whether the model said that the context does not answer; what it says beyond that is not an answer."""
        first = self._texts[0] if self._texts else self._held[0].text
        return re.sub(r"\W+", " ", first).strip().upper().startswith(NOT_IN_CONTEXT)

    def _render(self, statement: Statement) -> tuple[str, list[ContextChunk]]:
        raw = redact(clean(statement.text))[0]
        if statement.fenced:
            block = fence(raw)
            return f"```{block.info}\n{defang_code(block.text)}\n```\n", []
        cited: list[ContextChunk] = []
        quoted: list[str] = []
        text = ""
        for segment in inline(raw):
            if segment.kind == "code":
                quoted.append(segment.text)
                text = _with_code(text, segment)
                continue
            marked, chunks = self._resolver.mark(segment.text)
            cited += chunks
            safe = sweep_footnotes(unmark(defang_text(marked)))
            text += f" {safe}" if text.endswith("`") and safe[:1].isalnum() and looks_like_address(text.rsplit("`", 2)[-2]) else safe
        self._ungrounded.update(dict.fromkeys(ungrounded(quoted, cited, self._context, self._question)))
        return text, cited


def _with_code(text: str, segment: Segment) -> str:
    """Appends a code span. Some readers take a span inside a word for text, so one that holds an address stands apart."""
    apart = text[-1:].isalnum() and looks_like_address(segment.text)
    return f"{text}{' ' if apart else ''}`{defang_code(segment.text)}`"
