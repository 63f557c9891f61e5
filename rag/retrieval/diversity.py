"""Results that say the same once: near-duplicates folded into one, versions of a file grouped, and maximal marginal relevance. Pure.

Two chunks of different files are twins where their vectors and their texts agree: a vector alone takes two getters for one, a text alone
would be compared with every other. Only rows that may be shown are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag.protocols import Vector
from rag.retrieval.paths import path_facts, version_of
from rag.types import Chunk

AHEAD = 2  # times the results asked for: so many rows are ranked, for what is folded makes room
_SHINGLE = 4  # tokens
_TOKEN = re.compile(r"\w+|[^\w\s]")
_VERSION_NAMED = re.compile(r"\b(?:v\d{1,9}(?:\.\d{1,9}){0,3}|\d{1,9}(?:\.\d{1,9}){1,3})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What makes twins. `cosine`: least similarity of their vectors; `overlap`: least share of their shingles that both have."""

    cosine: float
    overlap: float


COPIES = Likeness(cosine=0.9, overlap=0.9)
VERSIONS = Likeness(cosine=0.8, overlap=0.5)  # of the same file in v1/ and v2/, or in v1/ and outside


@dataclass(frozen=True, slots=True)
class Fold:
    """`leader`: which of the places leads; `twins`: the others, in their order."""

    leader: int
    twins: tuple[int, ...] = ()

    @property
    def first(self) -> int:
        """The best of its places, which the fold takes."""
        return min(self.leader, *self.twins) if self.twins else self.leader


def folded(paths: Sequence[str], vectors: Vector | None, read: Callable[[list[int]], list[Chunk]], question: str) -> list[Fold]:
    """Places 0..k-1, best first, as folds in the order of their best place. `vectors`: (k, d) unit rows, None where there are none, and
    texts decide alone. `read`: the chunks at some places.

    Every place is in one fold; twins of twins are in the same, so folding what leads changes nothing.
    """
    pairs = _twins(paths, vectors, read)
    if not pairs:
        return [Fold(place) for place in range(len(paths))]
    root = list(range(len(paths)))
    for one, other in pairs:
        low, high = sorted((_find(root, one), _find(root, other)))
        root[high] = low
    members: dict[int, list[int]] = {}
    for place in range(len(paths)):
        members.setdefault(_find(root, place), []).append(place)
    named = {tuple(map(int, re.findall(r"\d+", one))) for one in _VERSION_NAMED.findall(question)}
    folds = []
    for places in members.values():
        leader = places[_leading([paths[place] for place in places], named)]
        folds.append(Fold(leader, tuple(place for place in places if place != leader)))
    return folds


def marginal(relevance: Sequence[float], vectors: Vector, trade: float, limit: int) -> list[int]:
    """Up to `limit` places by maximal marginal relevance, Carbonell and Goldstein 1998: each time the one with the most trade × relevance −
    (1 − trade) × its greatest similarity to what was chosen. Ties by place.

    `relevance`: on a scale whose best is 1. `vectors`: (k, d) unit rows. `trade`: λ, 0 to 1; 1 gives the order of relevance.
    """
    scores = trade * np.asarray(relevance, dtype=np.float64)
    nearest = np.zeros(len(scores))
    left = np.ones(len(scores), dtype=np.bool_)
    chosen: list[int] = []
    for _ in range(min(limit, len(scores))):
        place = int(np.argmax(np.where(left, scores - (1 - trade) * nearest, -np.inf)))
        chosen.append(place)
        left[place] = False
        nearest = np.maximum(nearest, vectors @ vectors[place])
    return chosen


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of four tokens, whatever stands between them; all of a text that is shorter."""
    tokens = _TOKEN.findall(text)
    if len(tokens) < _SHINGLE:
        return frozenset({tuple(tokens)})
    return frozenset(zip(*(tokens[start:] for start in range(_SHINGLE)), strict=False))


def overlap(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """The share of all shingles that both have, 0 to 1 (Jaccard)."""
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _twins(paths: Sequence[str], vectors: Vector | None, read: Callable[[list[int]], list[Chunk]]) -> list[tuple[int, int]]:
    likely = _likely(paths, vectors)
    if not likely:
        return []
    places = sorted({place for one, other, _ in likely for place in (one, other)})
    texts = {place: shingles(chunk.text) for place, chunk in zip(places, read(places), strict=True)}
    return [(one, other) for one, other, least in likely if overlap(texts[one], texts[other]) >= least]


def _likely(paths: Sequence[str], vectors: Vector | None) -> list[tuple[int, int, float]]:
    """Pairs of places whose texts are compared, each with the overlap that makes them twins."""
    alike = np.ones((len(paths), len(paths))) if vectors is None else vectors @ vectors.T
    found = []
    for one, other in zip(*(places.tolist() for places in (alike >= VERSIONS.cosine).nonzero()), strict=True):
        if one < other and paths[one] != paths[other]:
            likeness = VERSIONS if _same_but_version(paths[one], paths[other]) else COPIES
            if alike[one, other] >= likeness.cosine:
                found.append((one, other, likeness.overlap))
    return found


def _same_but_version(one: str, other: str) -> bool:
    return (path_facts(one).unversioned or one) == (path_facts(other).unversioned or other)


def _leading(paths: Sequence[str], named: set[tuple[int, ...]]) -> int:
    """Which of some twins leads: the first, or the version of the same file that people mean: one that the question names, the one outside
    of any version's directory, or the newest.
    """
    same = [place for place, path in enumerate(paths) if _same_but_version(path, paths[0])]
    versions = {place: version_of(paths[place]) for place in same}

    def order(place: int) -> tuple[bool, bool, tuple[int, ...], int]:
        version = versions[place]
        return version not in named, version is not None, tuple(-number for number in version or ()), place

    return min(same, key=order)


def _find(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place
