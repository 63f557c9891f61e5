"""What the paths of a group's files say, beside the question and by themselves: found once, for several signals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.matching import Asked, Flags, Floats, Matches
from rag.retrieval.names import all_met
from rag.retrieval.path_columns import PathColumns, columns_of
from rag.retrieval.trunk import trunk_of
from rag.retrieval.versions import is_named

_BEARERS = 3


@dataclass(frozen=True, slots=True)
class Described:
    """Of k files, in the order of their numbers. `names`, `directories`: how they meet the question. (k,) each: `test`, `example`, `old`,
    what lies among such, or is of a version that another stands for and the question does not name, `data`, settings too, `odd`, of no
    known language, `changes`, a change log, `form`, see `rag.retrieval.paths`, `translated`, a page whose original stands here, `variant`,
    for a platform that the question does not name where another file is for all; `levels`, directories above it; `trunk`, see
    `rag.retrieval.trunk`. `subjects`: numbers for
    what tests test, what else they are called. `files`: their numbers; `stems`: the names of all
    files in words.
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
    subjects: NDArray[np.int64]
    files: NDArray[np.int64]
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
        best = np.zeros(len(text))
        subjects = self.subjects[self.test]
        if not len(subjects):
            return best
        of_tests = dict.fromkeys(subjects.tolist(), 0.0)
        for subject, score in zip(subjects.tolist(), text[self.test].tolist(), strict=True):
            of_tests[subject] = max(of_tests[subject], score)
        bearers: defaultdict[int, list[int]] = defaultdict(list)
        for place, subject in enumerate(self.subjects.tolist()):
            if subject in of_tests and not self.test[place]:
                bearers[subject].append(place)
        for subject, bearing in bearers.items():
            if len(bearing) <= _BEARERS:
                best[bearing] = of_tests[subject]
        return best

    def called(self, symbol: str) -> Flags:
        """(k,) whose name is that of the symbol, none for ""."""
        if not symbol:
            return np.zeros(len(self.files), dtype=np.bool_)
        bare = symbol.replace("_", "")
        return np.array(["".join(self.stems[number]) == bare for number in self.files.tolist()], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class PathsMet:
    """How the names of all files of an index meet a question, and their directories."""

    names: Matches
    directories: Matches


def paths_met(chunks: ChunkTable, asked: Asked) -> PathsMet:
    columns = columns_of(chunks)
    return PathsMet(all_met(columns.words_of_stems, asked), all_met(columns.words_of_directories, asked))


def describe(files: NDArray[np.int64], chunks: ChunkTable, asked: Asked, met: PathsMet | None = None) -> Described:
    """`met`: see `paths_met`, which is asked where it is None."""
    columns, said, met = columns_of(chunks), asked.importance.keys(), met or paths_met(chunks, asked)
    return Described(
        names=met.names.of(files),
        directories=met.directories.of(files),
        test=columns.test[files],
        example=columns.example[files],
        old=columns.outdated[files] | _older(files, columns, said),
        data=columns.data[files],
        odd=columns.odd[files],
        changes=columns.changes[files],
        form=columns.form[files],
        translated=columns.translated[files],
        variant=_unsaid(files, columns.has_twin, columns.variants, said),
        trunk=trunk_of(chunks)[files],
        subjects=columns.subjects[files],
        levels=columns.levels[files],
        files=files,
        stems=columns.stems,
    )


def _older(files: NDArray[np.int64], columns: PathColumns, said: Set[str]) -> Flags:
    """(k,) the files of an older version that the question does not name."""
    found = columns.has_newer[files]
    for place in found.nonzero()[0].tolist():
        found[place] = not is_named(columns.superseded[int(files[place])], said)
    return found


def _unsaid(files: NDArray[np.int64], named: Flags, names: Mapping[int, frozenset[str]], said: Set[str]) -> Flags:
    """(k,) the files with names of which the question says none. `named`: (f,) those with any."""
    found = named[files]
    for place in found.nonzero()[0].tolist():
        found[place] = said.isdisjoint(names[int(files[place])])
    return found
