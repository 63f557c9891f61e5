"""What has more than one implementation. Each has one contract suite under tests/contracts, run on every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag.types import Chunk, Document, EmbeddingSpec, Filters, GenerationRequest, Relevance

Vector = NDArray[np.float32]


class Chunker(Protocol):
    """Cuts one document. Chunks come in order of their lines, and none exceeds the embedding model's window."""

    def chunk(self, document: Document) -> list[Chunk]: ...


class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def spec(self) -> EmbeddingSpec: ...

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, d) float32, unit rows, in the order given; n = 0 gives (0, d)."""
        ...

    def embed_query(self, text: str) -> Vector:
        """(d,) float32, unit length. Text over the window is cut by the model."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """An embedder that can say which words its model knows."""

    def knows(self, word: str) -> bool:
        """Whether a word, in lower case, is one of the language's."""
        ...


class DenseStore(Protocol):
    """Vectors of one generation, opened for reading."""

    def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> list[tuple[int, float]]:
        """Up to `limit` (row, cosine similarity), best first, ties by row. The filter is part of the query.

        Raises: RetrievalError.
        """
        ...

    def close(self) -> None: ...


@runtime_checkable
class ScanningStore(DenseStore, Protocol):
    """A dense store that may compare a question with every vector there is."""

    @property
    def scans(self) -> bool:
        """Whether it does. Then rag.index.scan brings the same from the vectors themselves, and similarities of other rows with it."""
        ...


@runtime_checkable
class HybridStore(DenseStore, Protocol):
    """A dense store that holds the BM25 weights of the same rows as well."""

    def search_all(
        self, vector: Vector, words: Sequence[Mapping[int, int]], limit: int, filters: Filters | None = None, *, by_words: int = 0
    ) -> tuple[list[list[tuple[int, float]]], list[tuple[int, float]]]:
        """(row, BM25) for each of `words`, and (row, cosine similarity), each as `search` has it, of one request.

        `words`: column of the weights -> times in a query. `by_words`: the limit of those, `limit` if 0.
        Raises: StoreUnavailable, RetrievalError.
        """
        ...


class SparseWeights(Protocol):
    """BM25 weights by row."""

    def by_row(self) -> Any:
        """(n, terms) SciPy CSR matrix, float64."""
        ...


class DenseBackend(Protocol):
    """Makes and opens dense stores. `name` is written to the manifest."""

    @property
    def name(self) -> str: ...

    def create(self, directory: Path, vectors: Vector, chunks: Sequence[Chunk], sparse: SparseWeights | None = None) -> None:
        """Writes a store for (n, d) unit rows; row i belongs to chunks[i]. Returns when it is durable.

        `sparse`: the BM25 weights of the same rows, for a back end whose stores are a HybridStore; others have no use for them.
        Raises: StoreUnavailable where a server is at fault.
        """
        ...

    def open(self, directory: Path) -> DenseStore:
        """Raises: IndexCorrupt."""
        ...


@runtime_checkable
class ServedBackend(DenseBackend, Protocol):
    """A back end whose stores lie on a server, which others use too and which may be away. A directory holds only which is meant."""

    def check(self) -> str:
        """The server's version. Raises: StoreUnavailable where it could not be built on."""
        ...

    def publish(self, directory: Path, repository: str) -> None:
        """From now on the store in `directory` is the repository's current one to whoever looks at the server. Raises: StoreUnavailable."""
        ...

    def sweep(self) -> list[str]:
        """Deletes what this installation made there and no directory of it names any more. Raises: StoreUnavailable."""
        ...

    def discard(self, directory: Path) -> None:
        """Deletes what the store in `directory` holds on the server. Raises: StoreUnavailable."""
        ...


class Reranker(Protocol):
    """Scores pairs of a question and a chunk."""

    @property
    def name(self) -> str:
        """Which kind, and of which model: "server/rerank-v3.5"."""
        ...

    @property
    def local(self) -> bool:
        """True where no code leaves the machine."""
        ...

    async def prepare(self) -> None:
        """Loads what scoring needs, once; at once where nothing is needed. Raises: RerankerFailed, ModelError."""
        ...

    async def score(self, question: str, chunks: Sequence[Chunk]) -> list[Relevance]:
        """One for each chunk, in the order given. Cancelled, it stops working as soon as it can.

        Raises: RerankerFailed, ModelError.
        """
        ...

    async def aclose(self) -> None: ...


class LanguageModel(Protocol):
    """A chat model at the other end of a wire."""

    @property
    def name(self) -> str:
        """Provider and model: "groq/llama-3.3-70b-versatile"."""
        ...

    def stream(self, messages: Sequence[tuple[str, str]], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        """Yields text as it comes; `messages` are (role, content). Ends only after a finish reason.

        Raises: GeneratorUnavailable, GeneratorBusy, PromptTooLarge, GeneratorCut.
        """
        ...


class Generator(Protocol):
    """Writes an answer from the context alone, citing context numbers in brackets: "[2]" or "[1][3]"."""

    @property
    def name(self) -> str: ...

    @property
    def local(self) -> bool:
        """True where no code leaves the machine."""
        ...

    def write(self, request: GenerationRequest) -> AsyncIterator[str]:
        """Yields raw text in any pieces. Raises: GeneratorError."""
        ...
