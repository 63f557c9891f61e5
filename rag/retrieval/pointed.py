"""Which files and chunks of an index a question points at: by path, by name, by a line, by a stack frame."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.places import Place

_MOST_FILES = 50  # that are looked into for lines
_MOST_ROWS = 12  # that one range of lines chooses in a file, the last ones


@dataclass(frozen=True, slots=True)
class Pointed:
    """`named`: numbers of files whose path or name the question gives. `framed`: file -> how near to where it failed its nearest stack
    frame is, the nearest of all 1. `rows`: chunks that hold a line that the question gives, or define what a frame says ran there.
    """

    named: frozenset[int] = frozenset()
    framed: Mapping[int, float] = field(default_factory=dict)
    rows: frozenset[int] = frozenset()

    @property
    def files(self) -> NDArray[np.int64]:
        return np.array(sorted(self.named | self.framed.keys()), dtype=np.int64)


def pointed_at(places: Sequence[Place], chunks: ChunkTable, *, long: bool) -> Pointed:
    """`long`: the places stand in a long text, where a name without directories is often that of a file of the writer's own."""
    if not places:
        return Pointed()
    paths = chunks.paths
    endings = tuple({place.path.rpartition("/")[2] for place in places})
    candidates = [(number, path) for number, path in enumerate(paths) if path.endswith(endings)]
    named: set[int] = set()
    framed: dict[int, float] = {}
    lines: dict[int, list[Place]] = {}
    for place in places:
        for number in (number for number, path in candidates if _meets(path, place.path, names=not long)):
            if place.nearness:
                framed[number] = max(framed.get(number, 0.0), place.nearness)
            else:
                named.add(number)
            if (place.start_line or place.function) and (number in lines or len(lines) < _MOST_FILES):
                lines.setdefault(number, []).append(place)
    nearest = max(framed.values(), default=1.0)
    rows = frozenset(row for number, given in lines.items() for row in _rows(number, given, chunks))
    return Pointed(frozenset(named), {number: near / nearest for number, near in framed.items()}, rows)


def _meets(path: str, place: str, *, names: bool) -> bool:
    """Whether a file's path is the one that was given, or both end in the same two parts. `names`: or in a name that stands alone."""
    if path == place or (names and "/" not in place and path.endswith(f"/{place}")):
        return True
    mine, theirs = path.rsplit("/", 2), place.rsplit("/", 2)
    return len(theirs) > 1 and len(mine) > 1 and mine[-2:] == theirs[-2:]


def _rows(number: int, given: Sequence[Place], chunks: ChunkTable) -> list[int]:
    """Of one file, whose chunks come in the order of their lines. Few of them are read."""
    rows = range(int(chunks.files.starts[number]), int(chunks.files.ends[number]))
    functions = {place.function for place in given if place.function}
    found = [row for row in rows if functions and not functions.isdisjoint(name.lower() for name in chunks.defines.of_row(row))]
    for place in given:
        if place.start_line:
            after = bisect_right(rows, place.end_line, key=lambda row: chunks.get([row])[0].start_line)
            near = rows[max(0, after - _MOST_ROWS) : after]
            found += [row for row, chunk in zip(near, chunks.get(near), strict=True) if chunk.end_line >= place.start_line]
    return found
