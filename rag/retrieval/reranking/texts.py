"""What a reranker reads of a question and of a chunk."""

from __future__ import annotations

from rag.types import Chunk

_LONGEST = 8_000  # characters


def readable(text: str) -> str:
    """Text that can be encoded in UTF-8: names and lines may hold bytes that are none, as lone surrogates. At most 8,000 characters."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


def document_of(chunk: Chunk) -> str:
    """Path, symbol and module docstring, then the lines: what the embedding model reads, too."""
    return readable(chunk.encoded_text)
