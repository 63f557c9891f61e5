"""A static model: every token has one vector, and a text has the mean of its tokens'. No network is run: numpy and a tokenizer do.

The vectors carry their tokens' weights (rag/embedding/distil_model.py): a sum is the weighted mean but for its length, which is made 1.
Of a chunk the first tokens weigh most, for it begins with its path, its symbol and its signature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag.embedding.exports import Export
from rag.embedding.well_formed import well_formed
from rag.errors import ModelError
from rag.protocols import Vector
from rag.types import EmbeddingSpec

# Where an identifier is cut: loadFile, HTTPServer, max_size. Its parts are words that a tokenizer knows; the whole it would cut anywhere.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_NOTHING = 1e-6  # length of a sum that says nothing
_HALF = 32  # the token after so many weighs half of the first


class StaticEncoder:
    """Tokens in, unit vectors out. Threads may share it.

    A vector depends on its text alone, to the last bit: rows are added in their order, by no library that might do it otherwise.
    """

    def __init__(self, vectors: Path, tokenizer: Path) -> None:
        """`vectors`: (tokens + 1, d) float16 or float32; the last row is the vector of a text that says nothing. Raises: ModelError."""
        try:
            self._table = np.load(vectors, allow_pickle=False).astype(np.float32)
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            if (
                self._table.ndim != 2
                or len(self._table) < 2 + max(self._tokenizer.get_vocab().values())
                or not np.isfinite(self._table).all()
            ):
                raise ValueError(f"vectors of the shape {self._table.shape}")
        except Exception as error:  # tokenizers raises bare exceptions of its own making
            raise ModelError(
                f"The static embedding model {vectors} cannot be loaded ({type(error).__name__}).",
                "Remove its directory: it is distilled again at the next start.",
            ) from error
        self._nothing: Vector = self._table[-1] / np.linalg.norm(self._table[-1])

    def encode(self, texts: Sequence[str], *, fading: bool = False) -> Vector:
        """(n, d) float32, unit rows. All of a text is read, whatever its length. `fading`: what comes later in it weighs less."""
        found = self._tokenizer.encode_batch([_split(well_formed(text)) for text in texts], add_special_tokens=False)
        vectors: Vector = np.empty((len(texts), self._table.shape[1]), dtype=np.float32)
        for row, encoding in enumerate(found):
            vectors[row] = self._mean(np.asarray(encoding.ids, dtype=np.int64), fading)
        return vectors

    def _mean(self, ids: NDArray[np.int64], fading: bool) -> Vector:
        rows = self._table[ids]
        if fading:
            rows *= (1 / (1 + np.arange(len(ids), dtype=np.float32) / _HALF))[:, None]
        total = rows.sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(total))
        return total / length if length > _NOTHING else self._nothing


class StaticEmbedder:
    """An `Embedder` over a static model."""

    def __init__(self, export: Export, spec: EmbeddingSpec, *, query_prompt: str) -> None:
        self._spec = spec
        self._query_prompt = query_prompt
        self._encoder = StaticEncoder(export.model, export.tokenizer)

    @property
    def spec(self) -> EmbeddingSpec:
        return self._spec

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return self._encoder.encode([self._spec.document_prompt + text for text in texts], fading=True)

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._encoder.encode([self._query_prompt + text])[0]
        return row


def _split(text: str) -> str:
    return _SEAM.sub(" ", text)
