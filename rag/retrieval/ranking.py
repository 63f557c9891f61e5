"""Candidates of one group of files to ranked chunks: which file, then which of its chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from rag.index.best import first_of
from rag.retrieval import signals
from rag.retrieval.described import Described
from rag.retrieval.evidence import Evidence
from rag.retrieval.lines import Lines, Ordered
from rag.retrieval.matching import Floats
from rag.retrieval.scored import Files, scored
from rag.retrieval.signals import Weights
from rag.retrieval.subject import Subject

_NOTHING: Mapping[str, float] = {}
_DECAYING = 12  # rows of a file after which what is left of its score is not looked at


@dataclass(frozen=True, slots=True)
class Ranked:
    """`shares`: what each signal added to the file's score, and what it was multiplied by ("× test")."""

    row: int
    score: float
    shares: Mapping[str, float] = field(default_factory=dict)


class Told(Mapping[str, float]):
    """What was said of a file and of one of its chunks, put together when somebody looks: of most results nobody does."""

    def __init__(self, of_file: Callable[[], dict[str, float]], of_chunk: Mapping[str, float]) -> None:
        self._of_file = of_file
        self._of_chunk = of_chunk

    def __getitem__(self, name: str) -> float:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, float]:
        return {**self._of_file(), **self._of_chunk}


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one group: of all that are gathered those from `first` on."""

    evidence: Evidence
    described: Described
    weights: Weights
    first: int = 0


def rank(subject: Subject, gathered: Evidence, groups: Sequence[Group], *, limit: int, rrf_k: int = 0) -> list[list[Ranked]]:
    """Of each group up to `limit` chunks, best first. `rrf_k`: fuses files by reciprocal rank where it is not 0, by scores where it is."""
    orders = [_order(subject, group, limit, rrf_k) for group in groups]
    places = [place for order in orders for place in order.gathered_places]
    if not places:
        return [[] for _ in groups]
    weights = groups[0].weights  # what chooses among the chunks of a file is the same for all
    meant, verbatim = subject.definitions.rows, _verbatim(subject, weights)
    lines = Lines(gathered, subject.names, subject.pointed, meant, verbatim, subject.setup, weights)
    ordered = lines.of_files(places, max(most for order in orders for most in order.mosts))
    found, done = [], 0
    for order in orders:
        found.append(_ranked(order, ordered, done, limit))
        done += len(order.places)
    return found


def _verbatim(subject: Subject, weights: Weights) -> dict[int, float]:
    """Row -> what it gains by what stands there as the question says it."""
    gained = {row: weights.lines_literal * share for row, share in subject.literals.rows.items()}
    for row, share in subject.said.rows.items():
        gained[row] = gained.get(row, 0.0) + weights.lines_said * share
    return gained


@dataclass(frozen=True, slots=True)
class _Order:
    """The best files of a group, best first. `places`: theirs among its files; `scores`, `weights`, `mosts`: of each its score, the weights
    by which its rows follow each other, and how many of them may be results."""

    group: Group
    files: Files
    places: list[int]
    scores: list[float]
    weights: list[Weights]
    mosts: list[int]

    @property
    def gathered_places(self) -> list[int]:
        """Theirs among all that are gathered."""
        return [self.group.first + place for place in self.places]


def _order(subject: Subject, group: Group, limit: int, rrf_k: int) -> _Order:
    evidence, weights = group.evidence, group.weights
    if not len(evidence.files) or limit <= 0:
        return _Order(group, Files({}, {}), [], [], [], [])
    files = scored(subject, evidence, group.described, weights, rrf_k)
    places = first_of(files.scores, limit)
    scores = files.scores[places].tolist()
    of_each = [weights] * len(scores)
    if subject.of_members:  # those of what the question names, and asks about, follow each other more closely
        of_members = replace(weights, repeat=weights.member_repeat, repeat_share=weights.member_share)
        defining = subject.definitions.strength
        of_each = [of_members if number in defining else weights for number in evidence.files[places].tolist()]
    least = scores[limit - 1] if len(scores) >= limit else -math.inf  # so much the first rows of `limit` files have
    mosts = [_most(score, least, weights, limit) for score, weights in zip(scores, of_each, strict=True)]
    return _Order(group, files, places.tolist(), scores, of_each, mosts)


def _most(score: float, least: float, weights: Weights, limit: int) -> int:
    """How many rows of a file may be among the best `limit`, where `limit` others have `least`."""
    if score > 0 and least > -math.inf:
        for position, factor in enumerate(_decays(weights)[:limit]):
            if score * factor < least:
                return position
    return limit


@lru_cache(maxsize=100)
def _decays(weights: Weights) -> list[float]:
    """The most that a file's rows may have of its score, the first, the second …"""
    return [signals.repeated(position, 1.0, weights) for position in range(_DECAYING)]


class _Row(NamedTuple):
    """A chunk's row with its score, below nothing: so the best sorts first. The place of its file, and what its score was multiplied by
    for what follows another of that, or for what its text alone says."""

    minus_score: float
    row: int
    place: int
    repeat: float = 1.0
    by_text: float | None = None

    @property
    def told(self) -> Mapping[str, float]:
        if self.by_text is not None:
            return {"× text alone": self.by_text}
        return {"× repeat": self.repeat} if self.repeat != 1.0 else _NOTHING


def _ranked(order: _Order, lines: Ordered, begin: int, limit: int) -> list[Ranked]:
    """The best `limit` rows of the files in their order, whose lines begin with those of file `begin`."""
    rows: list[_Row] = []
    start = lines.ends[begin - 1] if begin else 0
    of_each = zip(order.places, order.scores, order.weights, order.mosts, lines.ends[begin:], strict=False)
    for place, score, weights, most, end in of_each:
        for position in range(min(most, end - start)):
            factor = signals.repeated(position, lines.shares[start + position], weights)
            rows.append(_Row(-score * factor, lines.rows[start + position], place, factor))
        start = end
    rows.sort()
    rows = _with_lifted(rows[:limit], _best_by_text(order.group), order.files.scores, order.group.weights)[:limit]
    told_of = order.files.told
    return [Ranked(one.row, -one.minus_score, Told(partial(told_of, one.place), one.told)) for one in rows]


def _best_by_text(group: Group) -> list[tuple[int, int]]:
    """The rows that answer best by their text alone, with the places of their files."""
    evidence, weights = group.evidence, group.weights
    if not len(evidence.files):
        return []
    best = first_of(evidence.text, weights.lifted)
    return list(zip(evidence.rows[best].tolist(), evidence.owner[best].tolist(), strict=True))


def _with_lifted(rows: list[_Row], lifted: Sequence[tuple[int, int]], scores: Floats, weights: Weights) -> list[_Row]:
    """What answers best by its text alone stands no further back than its place, whatever is said of its file."""
    head, tail = rows[: weights.lifted_to], rows[weights.lifted_to :]
    shown = {one.row for one in head}
    hidden = [(row, place) for row, place in lifted if row not in shown]
    if len(head) < weights.lifted_to or not hidden:
        return rows
    least = -head[-1].minus_score
    up = [_Row(-least, row, place, by_text=least / float(scores[place]) if scores[place] else 1.0) for row, place in hidden]
    raised = {row for row, _ in hidden}
    return [*head, *up, *(one for one in tail if one.row not in raised)]
