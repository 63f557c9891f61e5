"""From a document's language to the way it is cut."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from rag.chunking.emit import chunk_by
from rag.chunking.grammars import grammar_for, is_cpp
from rag.chunking.headings import outline_by_headings
from rag.chunking.keyed import KEYED, outline_by_keys
from rag.chunking.outline import Outline
from rag.chunking.plain_lines import outline_by_lines
from rag.chunking.settings import ChunkingSettings
from rag.chunking.tokens import TokenBudget, TokenCounter
from rag.types import Chunk, Document

if TYPE_CHECKING:
    from rag.protocols import Chunker

_HEADED = frozenset({"markdown", "restructuredtext", "mdx"})
log = logging.getLogger(__name__)


class LanguageChunker:
    """Cuts by syntax tree where there is a grammar, by headings in Markdown and reStructuredText, by keys in TOML, YAML and JSON, by cells
    in notebooks, by lines with overlap otherwise."""

    def __init__(self, count_tokens: TokenCounter, settings: ChunkingSettings) -> None:
        self._budget = TokenBudget(count_tokens)
        self._settings = settings

    def chunk(self, document: Document) -> list[Chunk]:
        lines = document.text.split("\n")
        return chunk_by(document, lines, self._outline(document.language, lines), self._budget, self._settings)

    def chunk_by_lines(self, document: Document) -> list[Chunk]:
        """Without any parser: what a document falls back to."""
        lines = document.text.split("\n")
        return chunk_by(document, lines, outline_by_lines(lines, self._settings.overlap), self._budget, self._settings)

    def _outline(self, language: str, lines: list[str]) -> Outline:
        if language in _HEADED:
            return outline_by_headings(lines, language)
        if language in KEYED:
            return outline_by_keys(lines, language)
        if language == "notebook":
            from rag.chunking.notebook import outline_by_cells  # loads tree-sitter, as below

            return outline_by_cells(lines)
        grammar = grammar_for("cpp" if language == "c" and is_cpp(lines) else language)
        if grammar is None:
            return outline_by_lines(lines, self._settings.overlap)
        from rag.chunking.syntax import outline_by_syntax  # loads tree-sitter: not needed for prose, nor by those who only ask for types

        return outline_by_syntax(lines, grammar)


def make_chunker(count_tokens: TokenCounter, settings: ChunkingSettings) -> Chunker:
    """A chunker that parses in this process. `count_tokens`: tokens of a text for the embedding model, special tokens included.

    Chunks come in order of their lines; those of code and prose do not overlap, and together they hold every line that is not blank.
    For each, `count_tokens(chunk.encoded_text) <= settings.window_tokens`, and its text is its lines. The one exception: a line that does
    not fit alone becomes several chunks of that line, each a consecutive part of it without outer white space, up to
    `max_pieces_per_line`; what is left of such a line is in no chunk.
    """
    return LanguageChunker(count_tokens, settings)
