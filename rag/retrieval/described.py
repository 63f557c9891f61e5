"""What the paths of a group's files say, beside the question and by themselves: found once, for several signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.paths import path_facts
from rag.retrieval.signals import Asked, Flags, Floats, Matches


@dataclass(frozen=True, slots=True)
class Described:
    """Of k files, in the order of their numbers. `names`, `directories`: how they meet the question. `test`, `example`, `old`: (k,) what
    they are; old is what lies among such, or has a twin outside of its version's directory. `levels`: (k,) directories above them. `stems`:
    their names in words.
    """

    names: Matches
    directories: Matches
    test: Flags
    example: Flags
    old: Flags
    levels: NDArray[np.int64]
    stems: Sequence[tuple[str, ...]]

    @property
    def ordinary(self) -> Flags:
        """(k,) neither a test nor an example."""
        return ~(self.test | self.example)

    @property
    def best_name(self) -> float:
        """How well the best name meets the question, 0 to 1."""
        met: Floats = self.names.precision * np.sqrt(self.names.coverage)
        return float(met.max(initial=0.0))

    def called(self, symbol: str) -> Flags:
        """(k,) whose name is that of the symbol, none for ""."""
        if not symbol:
            return np.zeros(len(self.stems), dtype=np.bool_)
        bare = symbol.replace("_", "")
        return np.array(["".join(stem) == bare for stem in self.stems], dtype=np.bool_)


def describe(files: NDArray[np.int64], chunks: ChunkTable, asked: Asked) -> Described:
    paths, known = chunks.paths, chunks.path_set
    facts = [path_facts(paths[number]) for number in files.tolist()]
    stems = [fact.stem for fact in facts]
    return Described(
        names=asked.matches(stems),
        directories=asked.matches([fact.directories for fact in facts]),
        test=np.array([fact.test for fact in facts], dtype=np.bool_),
        example=np.array([fact.example for fact in facts], dtype=np.bool_),
        old=np.array([fact.outdated or fact.unversioned in known for fact in facts], dtype=np.bool_),
        levels=np.array([fact.level for fact in facts], dtype=np.int64),
        stems=stems,
    )
