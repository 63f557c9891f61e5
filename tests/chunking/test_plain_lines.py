"""Cutting by lines: overlap, and between blocks where there are some."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from rag.chunking import ChunkingSettings, TokenizerCounter
from rag.chunking.chunker import LanguageChunker
from rag.types import Chunk, Document, Kind

Cut = Callable[[str, str], list[Chunk]]


def test_each_chunk_repeats_about_a_tenth_of_the_one_before(cut: Cut) -> None:
    chunks = cut("text", "\n".join(f"line number {n} of a plain file" for n in range(300)))
    assert {chunk.kind for chunk in chunks} == {Kind.LINES}
    for before, after in pairwise(chunks):
        shared = before.end_line - after.start_line + 1
        assert 1 <= shared <= 3
        assert before.start_line < after.start_line
        assert before.end_line < after.end_line


def test_without_overlap_no_line_is_repeated(count_tokens: TokenizerCounter) -> None:
    chunker = LanguageChunker(count_tokens, ChunkingSettings(overlap=0.0))
    chunks = chunker.chunk(Document("a", "\n".join(f"line {n}" for n in range(500)), "text", ""))
    assert all(after.start_line == before.end_line + 1 for before, after in pairwise(chunks))


def test_blocks_of_a_configuration_stay_together(count_tokens: TokenizerCounter) -> None:
    block = "key_{n}:\n" + "".join(f"  option_{i}: value of option number {i}\n" for i in range(9))
    chunker = LanguageChunker(count_tokens, ChunkingSettings(overlap=0.0))
    chunks = chunker.chunk(Document("a.yaml", "".join(block.replace("{n}", str(n)) for n in range(12)), "yaml", ""))
    assert len(chunks) > 3
    assert all(chunk.text.startswith("key_") for chunk in chunks)


def test_a_document_can_be_cut_without_its_parser(chunker: LanguageChunker) -> None:
    document = Document("a.py", "def f():\n    return 1\n", "python", "")
    (chunk,) = chunker.chunk_by_lines(document)
    assert (chunk.kind, chunk.symbol, chunk.text) == (Kind.LINES, "", "def f():\n    return 1")
