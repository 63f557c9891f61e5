"""Files for one platform beside those for all, case by case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag.index.chunk_table import ChunkTable
from rag.retrieval.described import describe
from rag.retrieval.matching import Asked
from rag.retrieval.platforms import variants, without_platform
from rag.retrieval.signals import CODE, PROSE, reach
from tests.retrieval.test_described import table_of


@pytest.mark.parametrize(
    ("path", "bare", "platforms"),
    [
        ("depot/door.go", "depot/door.go", set()),
        ("depot/door_windows.go", "depot/door.go", {"windows"}),
        ("depot/door_linux_arm64.go", "depot/door.go", {"linux", "arm64"}),
        ("core/common/src/Door.kt", "core/src/door.kt", set()),
        ("core/jvm/src/Door.kt", "core/src/door.kt", {"jvm"}),
        ("core/src/jvmMain/Door.jvm.kt", "core/src/door.kt", {"jvm"}),
        ("core/src/commonMain/Door.common.kt", "core/src/door.kt", set()),
        ("core/jsAndWasmShared/src/DoorJs.kt", "core/src/door.kt", {"js", "wasm"}),
        ("core/nonJvm/src/Door.kt", "core/src/door.kt", set()),
        ("src/NativeDoor.kt", "src/nativedoor.kt", set()),  # a kind of door, no door for a platform
        ("src/windows.py", "src/windows.py", set()),
        ("src/unix/mod.rs", "src/unix/mod.rs", set()),
        ("src/windows_doors/door.py", "src/windows_doors/door.py", set()),
        ("main/door.py", "main/door.py", set()),
        ("door", "door", set()),
        (".windows", ".windows", set()),
        ("", "", set()),
    ],
)
def test_a_path_is_told_without_its_platforms(path: str, bare: str, platforms: set[str]) -> None:
    assert without_platform(path) == (bare, frozenset(platforms))


FILES = {
    "core/common/src/Door.kt": 1,
    "core/jvm/src/Door.kt": 1,
    "core/jvm/src/Hinge.kt": 1,  # of the jvm alone: nothing is for all
    "lock.go": 1,
    "lock_unix.go": 1,
    "lock_windows.go": 1,
    "wall_unix.go": 1,
    "wall_windows.go": 1,
}


@pytest.fixture
def table(tmp_path: Path) -> ChunkTable:
    return table_of(tmp_path, FILES)


def test_only_those_with_a_twin_for_all_are_variants(table: ChunkTable) -> None:
    found = {table.paths[number]: set(platforms) for number, platforms in variants(table.paths).items()}
    assert found == {"core/jvm/src/Door.kt": {"jvm"}, "lock_unix.go": {"unix"}, "lock_windows.go": {"windows"}}


@pytest.mark.parametrize(
    ("asked", "behind"),
    [
        (["door"], {"core/jvm/src/Door.kt", "lock_unix.go", "lock_windows.go"}),
        (["lock", "windows"], {"core/jvm/src/Door.kt", "lock_unix.go"}),
    ],
)
def test_they_stand_behind_unless_their_platform_is_asked_for(table: ChunkTable, asked: list[str], behind: set[str]) -> None:
    described = describe(np.arange(len(FILES)), table, Asked(asked, lambda term: 1.0))
    assert {table.paths[number] for number in np.flatnonzero(described.variant).tolist()} == behind
    factors = reach(described.variant, CODE)
    assert factors.tolist() == [CODE.variant if path in behind else 1.0 for path in table.paths]
    assert CODE.variant < 1
    assert reach(described.variant, PROSE).tolist() == [1.0] * len(FILES)
