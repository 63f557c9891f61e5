"""What is kept of a history: for each file of the commit its last change, and who has worked on it how much.

A commit counts for its author by 1 / the files it touches, halved for every year of its age, so that whoever reformatted everything once
knows no more of a file than whoever fixed it last month.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.source.history.changes import Change
from rag.source.history.names import kept_name

HALF_LIFE = 365.25 * 86_400  # seconds
EARLIEST = 315_532_800  # 1980: a commit that says to be older was dated by a broken clock
_FOLD_AT = 2_000_000  # touches that are held one by one
_MOST_PAIRS = 8_000_000  # of file and author; beyond, those that weigh least are forgotten
_UNDATED = 2.0**-10  # weight of a commit whose date is not believed
_READ = 1_000  # characters of a name as it is written


@dataclass(frozen=True, slots=True)
class History:
    """`commit`: the newest that was read. `reference`: the moment, in seconds since 1970, from which ages are counted. `cut`: the clone was
    shallow. `named`: whether names are in it. `mailmap`: id of the file that spelled them.

    Of file i of `paths`: `changed[i]`, seconds since 1970, 0 where no date is known; `changed_by[i]`, a number in `authors`, -1 where
    nobody is; and what its authors did, from `starts[i]` to `starts[i + 1]`: `who`, a number in `authors`; `commits`; `weights`, by age and
    size; `last`, the newest in seconds.
    """

    commit: str
    reference: int
    cut: bool
    named: bool
    mailmap: str
    paths: tuple[str, ...]
    authors: tuple[str, ...]
    changed: NDArray[np.int64]
    changed_by: NDArray[np.int32]
    starts: NDArray[np.int64]
    who: NDArray[np.int32]
    commits: NDArray[np.int32]
    weights: NDArray[np.float64]
    last: NDArray[np.int64]


class Tally:
    """Counts changes, newest first, of `paths` alone. `latest`: no date after it is believed. `named`: whether names are kept."""

    def __init__(self, paths: Sequence[str], reference: int, latest: int, *, named: bool, boundary: frozenset[str] = frozenset()) -> None:
        self._paths = tuple(paths)
        self._numbers = {path: number for number, path in enumerate(self._paths)}
        self._reference, self._latest, self._named, self._boundary = reference, latest, named, boundary
        self._authors: dict[str, int] = {}
        self._raw: dict[str, int] = {}
        self._changed = [-1] * len(self._paths)
        self._changed_by = [-1] * len(self._paths)
        self._touches = _touches()
        self._folded: tuple[NDArray[Any], ...] = tuple(np.frombuffer(column, dtype=_dtype(column)) for column in _touches())

    def add(self, change: Change) -> None:
        if change.commit in self._boundary:
            return
        touched = [number for path in change.paths if (number := self._numbers.get(path)) is not None]
        if not touched:
            return
        date = change.date if EARLIEST <= change.date <= self._latest else 0
        author = self._author(change.author) if self._named else -1
        for number in touched:
            if date > self._changed[number]:
                self._changed[number], self._changed_by[number] = date, author
        if author < 0:
            return
        age = 0.5 ** ((self._reference - date) / HALF_LIFE) if date else _UNDATED
        paths, authors, commits, weights, dates = self._touches
        paths.extend(touched)
        authors.extend([author] * len(touched))
        commits.extend([1] * len(touched))
        weights.extend([age / len(change.paths)] * len(touched))
        dates.extend([date] * len(touched))
        if len(paths) >= _FOLD_AT:
            self._fold()

    def add_former(self, former: History) -> None:
        """What an earlier pass found, up to a commit that those added here do not have. Call it after them, and once."""
        authors = np.array([self._named_author(name) for name in former.authors], dtype=np.int64)
        numbers = np.array([self._numbers.get(path, -1) for path in former.paths], dtype=np.int64)
        for number, date, by in zip(numbers.tolist(), former.changed.tolist(), former.changed_by.tolist(), strict=True):
            if number >= 0 and (date > self._changed[number]) and (date or by >= 0):
                self._changed[number], self._changed_by[number] = date, int(authors[by]) if by >= 0 else -1
        files = np.repeat(numbers, np.diff(former.starts))
        stands = files >= 0
        faded = former.weights * 0.5 ** ((self._reference - former.reference) / HALF_LIFE)
        columns = (files, authors[former.who] if len(former.who) else former.who, former.commits, faded, former.last)
        for held, column in zip(self._touches, columns, strict=True):
            held.extend(column[stands].tolist())
        self._fold()

    def history(self, commit: str, mailmap: str) -> History:
        self._fold()
        files, who, commits, weights, last = self._folded
        used = np.unique(np.concatenate([who, np.array([by for by in self._changed_by if by >= 0], dtype=np.int64)]))
        renumbered = np.full(max(1, len(self._authors)), -1, dtype=np.int64)
        renumbered[used] = np.arange(len(used))
        names, changed_by = list(self._authors), np.array(self._changed_by, dtype=np.int64)
        return History(
            commit=commit,
            reference=self._reference,
            cut=bool(self._boundary),
            named=self._named,
            mailmap=mailmap,
            paths=self._paths,
            authors=tuple(names[number] for number in used.tolist()),
            changed=np.maximum(np.array(self._changed, dtype=np.int64), 0),
            changed_by=np.where(changed_by >= 0, renumbered[changed_by], -1).astype(np.int32),
            starts=np.searchsorted(files, np.arange(len(self._paths) + 1)).astype(np.int64),
            who=renumbered[who].astype(np.int32),
            commits=commits.astype(np.int32),
            weights=weights,
            last=last,
        )

    def _author(self, raw: str) -> int:
        """-1 for a name of which nothing is kept."""
        raw = raw[:_READ]
        if (known := self._raw.get(raw)) is None:
            known = self._raw[raw] = self._named_author(kept_name(raw))
        return known

    def _named_author(self, name: str) -> int:
        return self._authors.setdefault(name, len(self._authors)) if name else -1

    def _fold(self) -> None:
        """Adds the single touches up, by file and author, in the order of the files."""
        held: list[NDArray[Any]] = [np.frombuffer(column, dtype=_dtype(column)) for column in self._touches]
        files, who, commits, weights, last = (np.concatenate(both) for both in zip(self._folded, held, strict=True))
        self._touches = _touches()
        if not len(files):
            return
        keys = files * (len(self._authors) + 1) + who
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        first = order[starts]
        sums = (np.add.reduceat(column[order], starts) for column in (commits, weights))
        self._folded = (files[first], who[first], *sums, np.maximum.reduceat(last[order], starts))
        if len(first) > _MOST_PAIRS:
            heaviest = np.sort(np.argsort(-self._folded[3], kind="stable")[:_MOST_PAIRS])
            self._folded = tuple(column[heaviest] for column in self._folded)


def _dtype(column: array[Any]) -> type:
    return np.float64 if column.typecode == "d" else np.int64


def _touches() -> tuple[array[Any], ...]:
    """Path, author, commits, weight and date of single touches."""
    return array("q"), array("q"), array("q"), array("d"), array("q")
