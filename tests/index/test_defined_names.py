from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.defined_names import DefinedNames
from rag.index.file_rows import Files

NAMES = st.lists(st.lists(st.text(st.sampled_from("aZé_ \ud800"), max_size=6), max_size=4), max_size=6)


@given(NAMES)
def test_names_come_back_and_are_found_in_any_case(names: list[list[str]]) -> None:
    defined = DefinedNames.of(names)
    assert [defined.of_row(row) for row in range(len(defined))] == [tuple(of_row) for of_row in names]
    for name in {name for of_row in names for name in of_row}:
        wanted = [row for row, of_row in enumerate(names) if name.lower() in [each.lower() for each in of_row]]
        assert defined.defining(name).tolist() == defined.defining(name.upper()).tolist() == wanted
    assert defined.defining("nowhere").tolist() == []


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    DefinedNames.write(tmp_path, [("Door", "open"), ()])
    assert DefinedNames.open(tmp_path).of_row(0) == ("Door", "open")
    (tmp_path / "defines.bin").write_bytes(b"Door\n")
    with pytest.raises(ValueError, match="not whole"):
        DefinedNames.open(tmp_path)


def test_rows_of_files() -> None:
    files = Files.of(np.array([0, 0, 1, 2, 2, 2], dtype=np.int32), 3, np.array([0, 0, 1, 0, 0, 0], dtype=np.bool_))
    assert len(files) == 3
    assert files.starts.tolist() == [0, 2, 3]
    assert files.ends.tolist() == [2, 3, 6]
    assert files.prose.tolist() == [False, True, False]
    assert files.prose_rows.tolist() == [False, False, True, False, False, False]
    assert files.best(np.array([1.0, 2, 3, 6, 5, 4])).tolist() == [2, 3, 6]
    assert len(Files.of(np.zeros(0, np.int32), 0, np.zeros(0, np.bool_)).best(np.zeros(0))) == 0
    with pytest.raises(ValueError, match="stand together"):
        Files.of(np.array([1, 0], dtype=np.int32), 2, np.zeros(2, np.bool_))
