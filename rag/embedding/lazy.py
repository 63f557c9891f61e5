"""An embedder that is loaded when it is first needed: commands that embed nothing start at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from rag.embedding.models import EmbeddingSettings, describe, load_embedder, tokenizer_file
from rag.embedding.word_list import known_words
from rag.protocols import Embedder, Vector
from rag.types import EmbeddingSpec


class LazyEmbedder:
    """Knows its spec at once; loads (and the first time exports) on first use, once, whichever thread comes first."""

    def __init__(self, settings: EmbeddingSettings, models_directory: Path) -> None:
        self._settings = settings
        self._directory = models_directory
        self._spec = describe(settings)
        self._loading = threading.Lock()
        self._loaded: Embedder | None = None

    @property
    def spec(self) -> EmbeddingSpec:
        return self._spec

    def tokenizer_file(self) -> Path:
        """The model's `tokenizer.json`, without loading the model."""
        return tokenizer_file(self._settings)

    def knows(self, word: str) -> bool:
        """Whether the model has a word, in lower case, as a whole, without loading it: see rag.embedding.word_list."""
        return word in known_words(self.tokenizer_file())

    def load(self) -> Embedder:
        """Raises: what `load_embedder` raises."""
        with self._loading:
            if self._loaded is None:
                self._loaded = load_embedder(self._settings, self._directory)
            return self._loaded

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return self.load().embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        return self.load().embed_query(text)
