"""In which files the names that a question writes like code are defined."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval import signals
from rag.retrieval.importance import Holders
from rag.retrieval.paths import path_facts
from rag.retrieval.query import Query
from rag.types import Kind

_PROGRAMS = (Kind.FUNCTION, Kind.METHOD, Kind.CLASS)
_NOWHERE = np.zeros(0, dtype=np.int32)
_NAMESAKE = 0.5  # of a definition, where another one is called as the question qualifies it


@dataclass(frozen=True, slots=True)
class Definitions:
    """Where the identifiers of a question are defined. `strength`: file -> of its best definition; `only_tests`: nowhere else.
    `rows`: the definitions that a qualified name of the question means. `documented`: a heading of prose is called like one of them that
    no code but tests defines, as a setting is."""

    strength: dict[int, float]
    only_tests: bool
    rows: frozenset[int] = frozenset()
    documented: bool = False

    @property
    def files(self) -> NDArray[np.int64]:
        return np.array(sorted(self.strength), dtype=np.int64)


def definitions_of(query: Query, chunks: ChunkTable, most: int, holders: Holders = MappingProxyType({})) -> Definitions:
    """Looks the question's identifiers up; of files beyond `most` the rest is left out. `holders`: the rows that hold its terms."""
    strength: dict[int, float] = {}
    meant: set[int] = set()
    kinds: set[Kind] = set()
    documented = False
    for name in query.identifiers:
        rows = chunks.defines.defining(name)
        documented = documented or _is_heading_alone(rows, chunks)
        for row, chunk in zip(rows[: 4 * most].tolist(), chunks.get(rows[: 4 * most].tolist()), strict=True):
            number = int(chunks.path_numbers[row])
            if not chunks.files.prose[number]:
                kinds.add(chunk.kind)
                strength[number] = max(strength.get(number, 0.0), signals.definition(chunk, name, symbol=bool(query.symbol)))
                if _qualified(chunk.symbol, name) in query.qualified:
                    meant.add(row)
    if query.symbol and meant:
        of_meant = {int(chunks.path_numbers[row]) for row in meant}
        strength = {number: value if number in of_meant else _NAMESAKE * value for number, value in strength.items()}
    kept = dict(sorted(strength.items(), key=lambda item: (-item[1], item[0]))[:most])
    only_tests = bool(kept) and all(path_facts(chunks.paths[number]).test for number in kept)
    only_tests = only_tests and not (kinds.isdisjoint(_PROGRAMS) and _read_elsewhere(query, chunks, holders))
    return Definitions(kept, only_tests, frozenset(meant), documented)


def _is_heading_alone(rows: NDArray[np.int64], chunks: ChunkTable) -> bool:
    """Whether what these rows define is the heading of a page, and nothing else but in tests."""
    files = np.unique(chunks.path_numbers[rows]).tolist()
    prose = [number for number in files if chunks.files.prose[number]]
    return bool(prose) and all(path_facts(chunks.paths[number]).test for number in files if not chunks.files.prose[number])


def _read_elsewhere(query: Query, chunks: ChunkTable, holders: Holders) -> bool:
    """Whether code that is no test holds what tests alone define, as a variable of the environment that they set."""
    for name in query.identifiers:
        for number in np.unique(chunks.path_numbers[holders.get(name, _NOWHERE)]).tolist():
            if not chunks.files.prose[number] and not path_facts(chunks.paths[number]).test:
                return True
    return False


def _qualified(symbol: str, name: str) -> str:
    """What `name`, which a chunk called `symbol` defines, belongs to, and itself: "depot.Door.open" -> "depot.door" and "door.open". Of one
    of several small members in a chunk, what the one belongs to after which that is called."""
    parts = symbol.lower().split(".")
    upto = parts[: len(parts) - parts[::-1].index(name)] if name in parts else [*parts[:-1], name]
    return ".".join(upto[-2:]) if len(upto) > 1 else ""
