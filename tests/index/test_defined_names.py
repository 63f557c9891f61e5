from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

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


@given(NAMES)
def test_words_of_names_are_read_as_they_were_made(names: list[list[str]]) -> None:
    made = DefinedNames.of(names).words
    with TemporaryDirectory() as directory:
        DefinedNames.write(Path(directory), names)
        read = DefinedNames.open(Path(directory)).words
    assert read.beginnings == made.beginnings
    for column in ("rows", "lengths", "holders", "starts"):
        assert getattr(read, column).tolist() == getattr(made, column).tolist()


@pytest.mark.parametrize("content", [None, b"", b"no archive", "other"])
def test_words_of_names_that_are_missing_or_damaged_are_made_anew(tmp_path: Path, content: bytes | str | None) -> None:
    names = [["openDoor", "Door"], [], ["door_of"]]
    DefinedNames.write(tmp_path, names)
    file = tmp_path / "name_words.npz"
    if content is None:
        file.unlink()
    elif isinstance(content, bytes):
        file.write_bytes(content)
    else:
        np.savez(file, words=np.zeros(3, np.uint8), rows=np.arange(2), lengths=np.arange(2), holders=np.arange(2), starts=np.arange(2))
    words = DefinedNames.open(tmp_path).words
    assert words.beginnings == {"ope": [("open", 0)], "doo": [("door", 1)], "of": [("of", 2)]}
    assert words.rows.tolist() == [0, 0, 2]
    assert words.holding(1).tolist() == [0, 1, 2]


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
