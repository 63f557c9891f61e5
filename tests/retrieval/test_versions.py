"""Versions side by side, and what stands for what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag.retrieval.described import describe
from rag.retrieval.matching import Asked
from rag.retrieval.versions import is_named, superseded
from tests.retrieval.test_described import table_of


@pytest.mark.parametrize(
    ("paths", "old"),
    [
        (["src/v3/door.ts", "src/v4/door.ts"], {"src/v3/door.ts": "v3"}),
        (["src/v3/door.ts", "src/v3/lock.ts", "src/v4/core/hinge.ts"], {"src/v3/door.ts": "v3", "src/v3/lock.ts": "v3"}),
        (["v9/door.go", "v10/door.go"], {"v9/door.go": "v9"}),
        (["depot/v1/door.py", "depot/door.py"], {"depot/v1/door.py": "v1"}),
        (["depot/v2/door.py", "depot/lock.py"], {}),
        (["shop/v1/door.py", "depot/v2/door.py"], {}),  # of different things
        ([*(f"api/v1/{number}.py" for number in range(5)), "api/v2/begun.py"], {}),  # the newer one has only been begun
        (["v1x/door.py", "dev1/door.py", "v2/door.py"], {}),
        (["v1"], {}),
        (
            ["doc/v1.9/door.yml", "doc/v1.10/door.yml", "doc/dev/door.yml", "doc/2/door.yml"],
            {"doc/v1.9/door.yml": "v1.9"},
        ),
        (["docs/version-1.2/door.md", "docs/version-2/door.md"], {"docs/version-1.2/door.md": "version-1.2"}),
        (["docs/1.2/door.md", "docs/door.md"], {"docs/1.2/door.md": "1.2"}),
        ([], {}),
    ],
)
def test_a_newer_version_that_is_as_large_stands_for_the_older(paths: list[str], old: dict[str, str]) -> None:
    assert {paths[number]: version for number, version in superseded(paths).items()} == old


@pytest.mark.parametrize(("asked", "old"), [(["door"], {"src/v3/door.ts"}), (["door", "v3"], set())])
def test_they_are_old_unless_the_question_names_their_version(tmp_path: Path, asked: list[str], old: set[str]) -> None:
    table = table_of(tmp_path, {"src/legacy.ts": 1, "src/v3/door.ts": 1, "src/v4/door.ts": 1})
    described = describe(np.arange(3), table, Asked(asked, lambda term: 1.0))
    assert {table.paths[number] for number in np.flatnonzero(described.old).tolist()} == old


@pytest.mark.parametrize(
    ("version", "terms", "named"),
    [("v3", "v3", True), ("v3", "3", False), ("v1.10", "1 10", True), ("v1.10", "v1 10 1", True), ("1.2", "1", False), ("v1.2", "", False)],
)
def test_what_names_a_version(version: str, terms: str, named: bool) -> None:
    assert is_named(version, frozenset(terms.split())) == named
