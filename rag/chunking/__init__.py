"""A document -> chunks: a module per way of reading it (`syntax`, `headings`, `plain_lines`), one that cuts (`segment`), one that emits."""

from rag.chunking.chunker import make_chunker
from rag.chunking.isolated import IsolatedChunker
from rag.chunking.settings import CHUNKER_VERSION, ChunkingSettings
from rag.chunking.tokens import TokenCounter, TokenizerCounter

__all__ = ["CHUNKER_VERSION", "ChunkingSettings", "IsolatedChunker", "TokenCounter", "TokenizerCounter", "make_chunker"]
