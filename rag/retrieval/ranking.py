"""Candidates of one group of files to ranked chunks: which file, then which of its chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

from rag.index.best import first_of
from rag.retrieval import signals
from rag.retrieval.described import Described
from rag.retrieval.evidence import Evidence
from rag.retrieval.lines import Lines
from rag.retrieval.matching import Floats
from rag.retrieval.scored import scored
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


def rank(subject: Subject, evidence: Evidence, described: Described, weights: Weights, *, limit: int, rrf_k: int = 0) -> list[Ranked]:
    """Up to `limit` chunks, best first. `rrf_k`: fuses files by reciprocal rank where it is not 0, by scores where it is."""
    if not len(evidence.files) or limit <= 0:
        return []
    files = scored(subject, evidence, described, weights, rrf_k)
    lifted = _best_by_text(evidence, weights)
    order = first_of(files.scores, limit)
    lines = Lines(evidence, subject.names, subject.pointed, subject.definitions.rows, subject.setup, weights)
    rows = _rows(order.tolist(), files.scores, lines, _weights_of_rows(subject, evidence, weights), limit)
    rows = _with_lifted(rows, lifted, files.scores, weights)[:limit]
    return [Ranked(one.row, one.score, Told(partial(files.told, one.place), one.told)) for one in rows]


def _best_by_text(evidence: Evidence, weights: Weights) -> list[tuple[int, int]]:
    """The rows that answer best by their text alone, with the places of their files."""
    best = first_of(evidence.text, weights.lifted)
    return list(zip(evidence.rows[best].tolist(), evidence.owner[best].tolist(), strict=True))


def _weights_of_rows(subject: Subject, evidence: Evidence, weights: Weights) -> Callable[[int], Weights]:
    """The weights by which the rows of the file at a place follow each other: those of what the question names, and asks about, more
    closely."""
    if not subject.of_members:
        return lambda place: weights
    of_members = replace(weights, repeat=weights.member_repeat, repeat_share=weights.member_share)
    defining = subject.definitions.strength
    return lambda place: of_members if int(evidence.files[place]) in defining else weights


class _Row(NamedTuple):
    """A chunk's row, its score, the place of its file, and what was said of it alone."""

    row: int
    score: float
    place: int
    told: Mapping[str, float]


def _rows(order: Sequence[int], scores: Floats, lines: Lines, weights_of: Callable[[int], Weights], limit: int) -> list[_Row]:
    """The best `limit` rows of the files at the places `order`, best first: of each as many as may be among them."""
    least = float(scores[order[limit - 1]]) if len(order) >= limit else -math.inf  # so much the first rows of `limit` files have
    of_each = [(float(scores[place]), weights_of(place)) for place in order]
    mosts = [_most(score, least, weights, limit) for score, weights in of_each]
    rows: list[_Row] = []
    for place, (score, weights), most, of_file in zip(order, of_each, mosts, lines.of_files(order, max(mosts)), strict=True):
        for position, (row, share) in enumerate(of_file[:most]):
            factor = signals.repeated(position, share, weights)
            rows.append(_Row(row, score * factor, place, {"× repeat": factor} if factor != 1 else _NOTHING))
    return sorted(rows, key=lambda one: (-one.score, one.row))[:limit]


def _most(score: float, least: float, weights: Weights, limit: int) -> int:
    """How many rows of a file may be among the best `limit`, where `limit` others have `least`."""
    if score > 0 and least > -math.inf:
        for position in range(min(limit, _DECAYING)):
            if score * signals.repeated(position, 1.0, weights) < least:
                return position
    return limit


def _with_lifted(rows: list[_Row], lifted: Sequence[tuple[int, int]], scores: Floats, weights: Weights) -> list[_Row]:
    """What answers best by its text alone stands no further back than its place, whatever is said of its file."""
    head, tail = rows[: weights.lifted_to], rows[weights.lifted_to :]
    shown = {one.row for one in head}
    hidden = [(row, place) for row, place in lifted if row not in shown]
    if len(head) < weights.lifted_to or not hidden:
        return rows
    least = head[-1].score
    up = [_Row(row, least, place, {"× text alone": least / float(scores[place]) if scores[place] else 1.0}) for row, place in hidden]
    raised = {row for row, _ in hidden}
    return [*head, *up, *(one for one in tail if one.row not in raised)]
