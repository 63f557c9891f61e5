"""BM25 over the chunks of one generation: rank-bm25's BM25Okapi, its weights laid out by term.

rank-bm25 looks at every document for every term of a query. Its score is a sum of weights that are known once the documents are:
idf(term) · tf · (k1 + 1) ÷ (tf + k1 · (1 − b + b · length ÷ mean length)). They go into a SciPy CSC matrix (chunks × terms), of which
a query adds up a few columns. The scores are those of `BM25Okapi.get_scores` (k1 = 1.5, b = 0.75, epsilon = 0.25).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from rag.errors import IndexCorrupt
from rag.index.best import first_of, reached
from rag.index.term_counts import Counted, TermCounts
from rag.index.vocabulary import Vocabulary, encoded
from rag.types import Chunk

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FORMAT = 1


class SparseIndex:
    """BM25 weights of n chunks, in memory or mapped from files. Reading from several threads is safe."""

    def __init__(self, vocabulary: Vocabulary, indptr: NDArray[np.int64], rows: NDArray[np.int32], weights: NDArray[np.float64], size: int):
        self._vocabulary = vocabulary
        self._indptr = indptr
        self._rows = rows
        self._weights = weights
        self._size = size

    def __len__(self) -> int:
        return self._size

    @property
    def terms(self) -> int:
        """How many there are."""
        return len(self._vocabulary)

    @classmethod
    def build(cls, chunks: Iterable[Chunk]) -> SparseIndex:
        """Counts and weighs the terms of all chunks; row i is the i-th chunk. Without a chunk or a term it finds nothing."""
        counted = TermCounts()
        for chunk in chunks:
            counted.add(chunk)
        return cls.weighed(counted)

    @classmethod
    def from_terms(cls, corpus: Iterable[Sequence[str]]) -> SparseIndex:
        """The same over ready terms, read once."""
        counted = TermCounts()
        for terms_of_chunk in corpus:
            counted.add_terms(terms_of_chunk)
        return cls.weighed(counted)

    @classmethod
    def weighed(cls, counted: Counted) -> SparseIndex:
        """The index of what was counted: row i is the i-th that was added."""
        from scipy.sparse import csr_matrix  # a tenth of a second that a process which only searches need not wait for

        by_chunk = counted.matrix()
        model = _Weights(counted, by_chunk)
        size = len(counted.lengths)
        names = sorted(counted.columns, key=encoded)
        place = np.empty(len(names), dtype=np.int32)  # order of first sight -> order of the vocabulary
        place[[counted.columns[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        by_term = csr_matrix((by_chunk.data, place[by_chunk.indices], by_chunk.indptr), shape=by_chunk.shape).tocsc()
        idf = np.asarray([model.idf[name] for name in names], dtype=np.float64)
        k1, b = model.k1, model.b
        norm = k1 * (1 - b + b * np.asarray(counted.lengths, dtype=np.float64) / (model.avgdl or 1.0))
        tf = by_term.data.astype(np.float64)
        weights = tf * (k1 + 1) / (tf + norm[by_term.indices])
        weights *= np.repeat(idf, np.diff(by_term.indptr))
        return cls(Vocabulary.of(names), by_term.indptr.astype(np.int64), by_term.indices.astype(np.int32), weights, size)

    def save(self, directory: Path) -> None:
        """Writes the index into an existing, empty directory. Raises: OSError."""
        self._vocabulary.save(directory)
        np.save(directory / "indptr.npy", self._indptr)
        np.save(directory / "rows.npy", self._rows)
        np.save(directory / "weights.npy", self._weights)
        about = {"format": FORMAT, "chunks": self._size, "terms": len(self._vocabulary), "entries": len(self._weights)}
        (directory / "sparse.json").write_text(json.dumps(about), "utf-8")

    @classmethod
    def open(cls, directory: Path) -> SparseIndex:
        """Maps the files of `save`: nothing is read until a query needs it. Raises: IndexCorrupt."""
        try:
            about = json.loads((directory / "sparse.json").read_text("utf-8"))
            vocabulary = Vocabulary.open(directory)
            indptr, rows, weights = (_mapped(directory / f"{name}.npy") for name in ("indptr", "rows", "weights"))
            sizes = (len(vocabulary), len(indptr), len(rows), len(weights), int(indptr[-1]))
            if about["format"] != FORMAT or sizes != (about["terms"], about["terms"] + 1, *(3 * [about["entries"]])):
                raise ValueError("sizes differ")
            if rows.dtype != np.int32 or weights.dtype != np.float64 or bool(np.any(np.diff(indptr) < 0)):
                raise ValueError("types differ")
            return cls(vocabulary, indptr, rows, weights, int(about["chunks"]))
        except (OSError, ValueError, KeyError, TypeError, EOFError, IndexError) as error:
            raise IndexCorrupt(f"The sparse index in {directory} is damaged ({error}).", "Index the repository again.") from error

    def search(self, query_terms: Sequence[str], limit: int, rows: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """Up to `limit` (row, BM25 score), best first, ties by row. `rows`: (n,) the rows that may be found, None for all.

        Only chunks that hold a term of the query are candidates, whatever their score: in a small corpus it can be zero or negative.

        Raises: IndexCorrupt.
        """
        return best_rows(self.scores(query_terms), limit, rows, lambda: self.holding(query_terms))

    def holding(self, query_terms: Iterable[str]) -> NDArray[np.bool_]:
        """(n,) whether a chunk holds any of the terms."""
        holding = np.zeros(self._size, dtype=np.bool_)
        for entries, _ in self._columns(tuple(query_terms)):
            holding[self._rows[entries]] = True
        return holding

    def holders(self, term: str) -> NDArray[np.int32]:
        """The rows that hold a term, ascending; as many as its document frequency."""
        column = self._vocabulary.find(term)
        return self._rows[0:0] if column is None else self._rows[self._indptr[column] : self._indptr[column + 1]]

    def scores(self, query_terms: Sequence[str]) -> NDArray[np.float64]:
        """(n,) BM25 scores of every chunk, as `BM25Okapi.get_scores`. Raises: IndexCorrupt."""
        scores = np.zeros(self._size)
        try:
            for entries, times in self._columns(query_terms):
                weights = self._weights[entries]
                np.add.at(scores, self._rows[entries], weights if times == 1 else times * weights)
        except IndexError as error:
            raise IndexCorrupt("The sparse index names a chunk that does not exist.", "Index the repository again.") from error
        return scores

    def counts(self, query_terms: Sequence[str]) -> dict[int, int]:
        """Column -> how often the query holds its term, of known terms. The dot product with a row of `by_row` is the row's score."""
        found = ((self._vocabulary.find(term), times) for term, times in Counter(query_terms).items())
        return {column: times for column, times in found if column is not None}

    def by_row(self) -> csr_matrix:
        """(n, terms) the weights by chunk, float64, columns in order. A copy: 12 bytes an entry and more."""
        size = (self._size, len(self._vocabulary))
        from scipy.sparse import csc_matrix

        return csc_matrix((self._weights, self._rows, self._indptr), shape=size).tocsr()

    def _columns(self, query_terms: Sequence[str]) -> list[tuple[slice, int]]:
        """Where each known term's entries lie, and how often the query holds it."""
        columns = self.counts(query_terms).items()
        return [(slice(self._indptr[column], self._indptr[column + 1]), times) for column, times in columns]


def best_rows(
    scores: NDArray[np.float64], limit: int, rows: NDArray[np.bool_] | None, holding: Callable[[], NDArray[np.bool_]]
) -> list[tuple[int, float]]:
    """Up to `limit` (row, score) of (n,) scores, best first, ties by row, of `rows` alone where given.

    `holding`: the candidates. Asked only where those that score more than nothing are too few: the others come after them.
    """
    allowed = scores if rows is None else np.where(rows, scores, 0.0)
    least = reached(allowed, limit)
    candidates = np.flatnonzero(allowed >= least if least > 0 else allowed > 0)
    if len(candidates) < limit:
        candidates = np.flatnonzero(holding() if rows is None else holding() & rows)
    first = candidates[first_of(scores[candidates], limit)]
    return list(zip(first.tolist(), scores[first].tolist(), strict=True))


class _Weights(BM25Okapi):  # type: ignore[misc]  # rank-bm25 carries no types
    """BM25Okapi's own idf and mean length, from counts: rank-bm25's dictionary a document takes a gigabyte at 200,000 chunks."""

    def __init__(self, counted: Counted, by_chunk: csr_matrix) -> None:
        self._counted = counted
        self._holders = np.bincount(by_chunk.indices, minlength=len(counted.columns)).tolist()
        super().__init__(())

    def _initialize(self, corpus: Iterable[Sequence[str]]) -> dict[str, int]:
        lengths = self._counted.lengths
        self.doc_len = lengths
        self.corpus_size = len(lengths)
        self.avgdl = sum(lengths) / self.corpus_size if self.corpus_size else 0.0
        # In order of first sight, as rank-bm25 has it: its mean idf is a sum of floats.
        return dict(zip(self._counted.columns, self._holders, strict=True))

    def _calc_idf(self, nd: dict[str, int]) -> None:
        if nd:  # rank-bm25 divides by the number of terms
            super()._calc_idf(nd)


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != 1:
        raise ValueError(f"{path.name} has {array.ndim} dimensions")
    return np.asarray(array)  # still mapped; every look into a memmap runs Python
