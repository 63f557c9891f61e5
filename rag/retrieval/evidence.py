"""The text scores of the best files: gathered once for a question and a group of files, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.file_rows import Files
from rag.protocols import Vector

FILES = 50  # of each retriever whose chunks are all scored; more change nothing that is seen
_SAMPLE = 1024  # chunks whose median similarity is what an unrelated chunk has

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """k files with their m chunks. `files`: (k,) ascending; `rows`: (m,) ascending; `starts`: (k,) where each file's begin in `rows`.

    `sparse`: (m,) word scores, the best of the repository 1. `dense`: (m,) similarities of which an unrelated chunk has 0 and the best 1,
    None where nothing was searched by meaning.
    """

    files: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    sparse: Floats
    dense: Floats | None

    def of_file(self, place: int) -> slice:
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.rows)
        return slice(int(self.starts[place]), int(end))


def gather(
    files: Files,
    group: NDArray[np.bool_],
    sparse: Floats,
    allowed: NDArray[np.bool_] | None,
    found: Sequence[NDArray[np.int64]],
    extra: NDArray[np.int64],
    similarity: Similarity | None,
) -> Evidence:
    """`group`: (f,) files that may be results. `sparse`: (n,) scores, nothing where a chunk may not be found; `allowed`: (n,) those that
    may, None for all. `found`: what each retriever brought, rows, best first; `extra`: files that are scored whatever they hold.
    """
    best = np.where(group, files.best(sparse), 0.0)
    by_words = np.argsort(-best, kind="stable")[:FILES]
    chosen = [by_words[best[by_words] > 0], extra[group[extra]]]
    for rows in found:
        numbers = files.numbers[rows]
        chosen.append(np.fromiter(dict.fromkeys(numbers[group[numbers]].tolist()), np.int64)[:FILES])
    return _evidence(files, np.unique(np.concatenate(chosen)), sparse, allowed, similarity)


def _evidence(
    files: Files, chosen: NDArray[np.int64], sparse: Floats, allowed: NDArray[np.bool_] | None, similarity: Similarity | None
) -> Evidence:
    lengths = files.ends[chosen] - files.starts[chosen]
    owner = np.repeat(np.arange(len(chosen)), lengths)
    rows = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + files.starts[chosen][owner]
    if allowed is not None:
        kept = allowed[rows]
        rows, owner = rows[kept], owner[kept]
    present, starts = np.unique(owner, return_index=True)
    scores = None
    if similarity is not None:
        scores = similarity.of(rows) if allowed is not None else similarity.of_runs(files.starts[chosen], files.ends[chosen])
    return Evidence(chosen[present], rows, starts, sparse[rows], scores)


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosine similarities on a scale of their own: `nothing`, what an unrelated chunk has, is 0 and the `best` is 1."""

    question: Vector
    vectors: Vector
    nothing: float
    best: float

    @classmethod
    def of_question(cls, question: Vector, vectors: Vector, best: float) -> Similarity:
        """`question`: (d,); `vectors`: (n, d) unit rows; `best`: the highest cosine that a search found."""
        vectors = np.asarray(vectors)  # as a map, every slice of it is one
        sample = vectors[:: max(1, len(vectors) // _SAMPLE)] @ question
        return cls(question, vectors, float(np.median(sample)) if len(sample) else 0.0, best)

    def of(self, rows: NDArray[np.int64]) -> Floats:
        """(m,) of these rows; below 0 for what is less than unrelated."""
        return self.scaled(self.vectors[rows] @ self.question)

    def of_runs(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
        """(m,) of the rows starts[0] to ends[0] - 1 and so on: nothing is copied."""
        runs = zip(starts.tolist(), ends.tolist(), strict=True)
        cosines = [self.vectors[start:end] @ self.question for start, end in runs]
        return self.scaled(np.concatenate(cosines) if cosines else np.zeros(0))

    def cosine(self, scaled: float) -> float:
        """Back from that scale."""
        return scaled * (self.best - self.nothing) + self.nothing

    def scaled(self, cosines: NDArray[np.floating]) -> Floats:
        width = self.best - self.nothing
        return (cosines.astype(np.float64) - self.nothing) / width if width > 1e-6 else np.zeros(len(cosines))


def file_means(evidence: Evidence, scores: Floats) -> Floats:
    """(k,) half the best chunk's score, half the mean of the best three (of as many as there are)."""
    owner = np.repeat(np.arange(len(evidence.files)), np.diff(np.append(evidence.starts, len(evidence.rows))))
    order = np.lexsort((-scores, owner))
    place = np.arange(len(order)) - evidence.starts[owner]
    top = place < 3
    sums = np.bincount(owner[top], scores[order][top], len(evidence.files))
    return 0.5 * np.maximum.reduceat(scores, evidence.starts) + 0.5 * sums / np.bincount(owner[top], minlength=len(evidence.files))


def file_best(evidence: Evidence, scores: Floats) -> Floats:
    """(k,)"""
    return np.maximum.reduceat(scores, evidence.starts)
