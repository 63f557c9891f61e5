"""Running a model through sentence-transformers, as it is: for those that cannot be exported, and to check those that can."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag.embedding.well_formed import well_formed
from rag.errors import UnknownModel
from rag.protocols import Vector
from rag.types import EmbeddingSpec

BATCH = 32  # texts; sentence-transformers sorts them by length before it cuts batches


def load_sentence_transformer(directory: Path) -> Any:
    """A `SentenceTransformer` on the processor, from disk alone: nothing is fetched and no code of the model's is run.

    Raises: UnknownModel.
    """
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(str(directory), device="cpu", local_files_only=True, trust_remote_code=False).eval()
    except Exception as error:  # whatever a damaged or foreign model makes transformers raise
        raise UnknownModel(
            f"The embedding model in {directory} cannot be loaded ({type(error).__name__}).",
            "See that sentence-transformers can load it, or use all-MiniLM-L6-v2.",
        ) from error


class SentenceTransformersEmbedder:
    """An `Embedder` over a loaded `SentenceTransformer`. `threads`: 0 leaves torch's own choice."""

    def __init__(self, directory: Path, spec: EmbeddingSpec, *, query_prompt: str, threads: int) -> None:
        self._spec = spec
        self._query_prompt = query_prompt
        self._model = load_sentence_transformer(directory)
        self._lock = threading.Lock()  # its tokenizer keeps padding and truncation as state
        if threads:
            import torch

            torch.set_num_threads(threads)

    @property
    def spec(self) -> EmbeddingSpec:
        return self._spec

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.zeros((0, self._spec.dimension), dtype=np.float32)
        return self._encode(list(texts), self._spec.document_prompt, self._spec.reads)

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._encode([text], self._query_prompt, self._spec.window)[0]
        return row

    def _encode(self, texts: list[str], prompt: str, tokens: int) -> Vector:
        # The prompt is given apart, not joined to the text: some models leave it out of the pooling. "" would mean the model's default.
        with self._lock:
            if self._model.max_seq_length != math.inf:  # a static model has no window, and no way to set one
                self._model.max_seq_length = tokens
            vectors = self._model.encode(
                [well_formed(text) for text in texts],
                prompt=prompt,
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        rows = np.asarray(vectors, dtype=np.float32)
        rows[np.linalg.norm(rows, axis=1) == 0, 0] = 1.0  # a text in which a static model knows no token
        return rows
