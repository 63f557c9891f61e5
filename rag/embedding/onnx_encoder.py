"""Running an exported model with onnxruntime and tokenizers: no torch, half a second to start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from rag.embedding.exports import Export
from rag.embedding.well_formed import well_formed
from rag.errors import ModelError
from rag.protocols import Vector
from rag.types import EmbeddingSpec


class Encoder:
    """Tokens in, unit vectors out. Every text runs by itself, on one thread, `threads` of them at a time (0: one per core).

    A batch would pad, and gains nothing on a processor; one text a run makes a vector depend on its text alone.
    """

    def __init__(self, model: Path, tokenizer: Path, *, window: int, threads: int, read_tokens: int = 0) -> None:
        """`window`: most tokens of a text that are read; of those that are encoded `short`, `read_tokens`."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            self._tokenizer = _reading(tokenizer, window)
            self._short = _reading(tokenizer, read_tokens) if read_tokens else self._tokenizer
        except Exception as error:  # onnxruntime and tokenizers raise bare exceptions of their own making
            raise ModelError(
                f"The exported embedding model {model} cannot be loaded ({type(error).__name__}).",
                "Remove its directory: it is exported again at the next start.",
            ) from error
        self._threads = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads or os.cpu_count() or 1

    def encode(self, texts: Sequence[str], *, short: bool = False) -> Vector:
        """(n, d) float32, unit rows, n > 0."""
        tokenizer = self._short if short else self._tokenizer
        if len(texts) == 1:  # a question: `encode_batch` would let another thread have the interpreter, which may not give it back so soon
            return self._run(np.asarray([tokenizer.encode(well_formed(texts[0])).ids], dtype=np.int64))
        encodings = tokenizer.encode_batch([well_formed(text) for text in texts])
        ids = [np.asarray([encoding.ids], dtype=np.int64) for encoding in encodings]
        if self._threads == 1:
            return np.concatenate([self._run(row) for row in ids])
        # Longest first, so that the threads end together.
        order = sorted(range(len(ids)), key=lambda index: -ids[index].shape[1])
        with ThreadPoolExecutor(min(self._threads, len(ids)), thread_name_prefix="embed") as pool:
            rows = list(pool.map(lambda index: self._run(ids[index]), order))
        vectors: Vector = np.empty((len(ids), rows[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(rows)
        return vectors

    def _run(self, ids: np.ndarray) -> Vector:
        vector: Vector = self._session.run(None, {"input_ids": ids})[0]
        return vector


class OnnxEmbedder:
    """An `Embedder` over an export."""

    def __init__(self, export: Export, spec: EmbeddingSpec, *, query_prompt: str, threads: int) -> None:
        self._spec = spec
        self._query_prompt = query_prompt
        self._encoder = Encoder(export.model, export.tokenizer, window=spec.window, threads=threads, read_tokens=spec.read_tokens)

    @property
    def spec(self) -> EmbeddingSpec:
        return self._spec

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.zeros((0, self._spec.dimension), dtype=np.float32)
        return self._encoder.encode([self._spec.document_prompt + text for text in texts], short=True)

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._encoder.encode([self._query_prompt + text])[0]
        return row


def _reading(path: Path, tokens: int) -> Tokenizer:
    """A tokenizer that cuts a text after so many tokens. Two, where there are two lengths: truncation is state that threads would share."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens)
    return tokenizer
