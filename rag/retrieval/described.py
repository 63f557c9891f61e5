"""What the paths of a group's files say, beside the question and by themselves: found once, for several signals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.matching import Asked, Flags, Floats, Matches
from rag.retrieval.path_columns import columns_of
from rag.retrieval.trunk import trunk_of
from rag.retrieval.versions import is_named

_BEARERS = 3


@dataclass(frozen=True, slots=True)
class Described:
    """Of k files, in the order of their numbers. `names`, `directories`: how they meet the question. (k,) each: `test`, `example`, `old`,
    what lies among such, or is of a version that another stands for and the question does not name, `data`, settings too, `odd`, of no
    known language, `changes`, a change log, `form`, see `rag.retrieval.paths`, `translated`, a page whose original stands here, `variant`,
    for a platform that the question does not name where another file is for all; `levels`, directories above it; `trunk`, see
    `rag.retrieval.trunk`. `subjects`: what tests test, what else they are called. `stems`: their names in words.
    """

    names: Matches
    directories: Matches
    test: Flags
    example: Flags
    old: Flags
    data: Flags
    odd: Flags
    changes: Flags
    form: Flags
    translated: Flags
    variant: Flags
    levels: NDArray[np.int64]
    trunk: Floats
    subjects: Sequence[str]
    stems: Sequence[tuple[str, ...]]

    @property
    def ordinary(self) -> Flags:
        """(k,) neither a test, an example, data nor odd."""
        return ~(self.test | self.example | self.data | self.odd)

    @property
    def best_name(self) -> float:
        """How well the best name meets the question, 0 to 1."""
        met: Floats = self.names.precision * np.sqrt(self.names.coverage)
        return float(met.max(initial=0.0))

    def of_their_tests(self, text: Floats) -> Floats:
        """(k,) the best of the `text` scores of each file's tests, 0 where these have none. A name that many files bear is nobody's."""
        bearers: defaultdict[str, list[int]] = defaultdict(list)
        for place in np.flatnonzero(~self.test).tolist():
            bearers[self.subjects[place]].append(place)
        best = np.zeros(len(text))
        for place in np.flatnonzero(self.test).tolist():
            bearing = bearers[self.subjects[place]]
            if 0 < len(bearing) <= _BEARERS:
                best[bearing] = np.maximum(best[bearing], text[place])
        return best

    def called(self, symbol: str) -> Flags:
        """(k,) whose name is that of the symbol, none for ""."""
        if not symbol:
            return np.zeros(len(self.stems), dtype=np.bool_)
        bare = symbol.replace("_", "")
        return np.array(["".join(stem) == bare for stem in self.stems], dtype=np.bool_)


def describe(files: NDArray[np.int64], chunks: ChunkTable, asked: Asked) -> Described:
    columns, numbers, said = columns_of(chunks), files.tolist(), asked.importance.keys()
    stems = [columns.stems[number] for number in numbers]
    superseded = [number in columns.superseded and not is_named(columns.superseded[number], said) for number in numbers]
    return Described(
        names=asked.matches(stems),
        directories=asked.matches([columns.directories[number] for number in numbers]),
        test=columns.test[files],
        example=columns.example[files],
        old=columns.outdated[files] | np.array(superseded, dtype=np.bool_),
        data=columns.data[files],
        odd=columns.odd[files],
        changes=columns.changes[files],
        form=columns.form[files],
        translated=columns.translated[files],
        variant=np.array([number in columns.variants and said.isdisjoint(columns.variants[number]) for number in numbers], dtype=np.bool_),
        trunk=trunk_of(chunks)[files],
        subjects=[columns.subjects[number] for number in numbers],
        levels=columns.levels[files],
        stems=stems,
    )
