"""What the newest commits say of the files that they changed: the terms of their messages, by commit.

A message calls a thing what people call it, where the code may not. Of a repository's last commits each that touches a file which still
stands counts, but for those that touch so many that they are about none of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.index.term_counts import CountedMatrix, TermCounts
from rag.index.tokens import terms
from rag.source.history.changes import Change
from rag.source.history.said import said

MOST = 20_000  # commits
MOST_TOUCHED = 30  # files of one commit
_SUBJECT = 2  # times that the first line counts
_BODY = 200  # terms of the rest


@dataclass(frozen=True, slots=True)
class Messages:
    """Of m commits, newest first. Commit i has the terms `columns[starts[i]:starts[i + 1]]`, numbers in `terms`, each as often as `counts`
    says, and touched `touched[touched_starts[i]:touched_starts[i + 1]]`, numbers in `paths`, among `spread[i]` files in all, gone ones
    included. `terms`: without their endings (rag.index.stems).
    """

    paths: tuple[str, ...]
    terms: tuple[str, ...]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int32]
    touched_starts: NDArray[np.int64]
    touched: NDArray[np.int32]
    spread: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.spread)

    def weighed(self) -> SparseIndex:
        """BM25 of the messages: row i is commit i."""
        from scipy.sparse import csr_matrix  # see rag.index.sparse

        matrix = csr_matrix((self.counts, self.columns, self.starts), shape=(len(self), len(self.terms)))
        lengths = np.diff(np.concatenate([[0], np.cumsum(self.counts)])[self.starts]).tolist()
        return SparseIndex.weighed(CountedMatrix({term: column for column, term in enumerate(self.terms)}, lengths, matrix))

    def check(self) -> None:
        """Raises: ValueError where its parts do not belong together."""
        commits = len(self.spread)
        whole = (
            _are_starts(self.starts, commits, len(self.columns))
            and _are_starts(self.touched_starts, commits, len(self.touched))
            and len(self.counts) == len(self.columns)
            and _are_numbers(self.columns, len(self.terms))
            and _are_numbers(self.touched, len(self.paths))
            and int(min(self.spread.min(initial=1), self.counts.min(initial=1))) > 0
            and len(set(self.terms)) == len(self.terms)
        )
        if not whole:
            raise ValueError("the parts of its messages do not belong together")


class MessageTally:
    """Hears a pass over the history (rag.source.history.reading.Listener). `paths`: of the files that stand. `former`: what is added where
    the pass continues an earlier one."""

    def __init__(self, paths: Sequence[str], former: Messages | None = None) -> None:
        self._paths = tuple(paths)
        self._numbers = {path: number for number, path in enumerate(self._paths)}
        self._former = former
        self._continued = False
        self._counted = TermCounts()
        self._touched, self._touched_ends, self._spread = array("i"), array("q", [0]), array("i")

    def add(self, change: Change) -> None:
        if len(self._spread) >= MOST or len(change.paths) > MOST_TOUCHED:
            return
        touched = [number for path in change.paths if (number := self._numbers.get(path)) is not None]
        if touched:
            self._counted.add_terms(message_terms(change.message))
            self._touched.extend(touched)
            self._touched_ends.append(len(self._touched))
            self._spread.append(len(change.paths))

    def continues(self) -> None:
        self._continued = True

    def messages(self) -> Messages:
        matrix = self._counted.matrix()
        own = Messages(
            self._paths,
            tuple(self._counted.columns),
            matrix.indptr.astype(np.int64),
            matrix.indices,
            matrix.data,
            np.frombuffer(self._touched_ends, dtype=np.int64),
            np.frombuffer(self._touched, dtype=np.int32),
            np.frombuffer(self._spread, dtype=np.int32),
        )
        return _joined(own, self._former, self._numbers) if self._former is not None and self._continued else own


def message_terms(message: str) -> list[str]:
    """What is counted of a message: its first line twice, and what follows as far as it is read, without endings."""
    subject, body = said(message)
    return [stem(term) for term in _SUBJECT * terms(subject) + terms(body)[:_BODY]]


def _joined(newer: Messages, former: Messages, numbers: Mapping[str, int]) -> Messages:
    """With what `former` says of files that still stand, up to MOST commits."""
    place = np.array([numbers.get(path, -1) for path in former.paths], dtype=np.int32)
    touched = place[former.touched]
    stands = _sums(touched >= 0, former.touched_starts) > 0
    stands[np.flatnonzero(stands)[max(0, MOST - len(newer)) :]] = False
    of_terms, of_files = (np.repeat(stands, np.diff(starts)) for starts in (former.starts, former.touched_starts))
    of_files &= touched >= 0
    columns = {term: column for column, term in enumerate(newer.terms)}
    moved = np.array([columns.setdefault(term, len(columns)) for term in former.terms], dtype=np.int32)
    # What only commits say that are left out is no term of these.
    used, renumbered = np.unique(np.concatenate([newer.columns, moved[former.columns[of_terms]]]), return_inverse=True)
    names = list(columns)
    return Messages(
        newer.paths,
        tuple(names[column] for column in used.tolist()),
        _starts_of(newer.starts, np.diff(former.starts)[stands]),
        renumbered.astype(np.int32),
        np.concatenate([newer.counts, former.counts[of_terms]]),
        _starts_of(newer.touched_starts, _sums(of_files, former.touched_starts)[stands]),
        np.concatenate([newer.touched, touched[of_files]]),
        np.concatenate([newer.spread, former.spread[stands]]),
    )


def _starts_of(first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the rows start if rows of these lengths follow others."""
    return np.concatenate([first, first[-1] + np.cumsum(lengths, dtype=np.int64)])


def _sums(flags: NDArray[np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[starts])


def _are_starts(starts: NDArray[np.int64], rows: int, entries: int) -> bool:
    return len(starts) == rows + 1 and int(starts[0]) == 0 and int(starts[-1]) == entries and bool(np.all(np.diff(starts) >= 0))


def _are_numbers(numbers: NDArray[np.int32], of: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < of)
