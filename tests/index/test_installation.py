"""A data directory keeps its name; a copy of it takes another."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag.index.installation import installation_id


def test_the_name_stays_also_when_the_directory_is_renamed(tmp_path: Path) -> None:
    name = installation_id(tmp_path / "data")
    assert re.fullmatch("[0-9a-f]{12}", name)
    (tmp_path / "data").rename(tmp_path / "moved")
    assert installation_id(tmp_path / "moved") == name


def test_a_copy_is_another_installation(tmp_path: Path) -> None:
    name = installation_id(tmp_path / "data")
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    other = installation_id(tmp_path / "copy")
    assert other != name
    assert installation_id(tmp_path / "copy") == other
    assert installation_id(tmp_path / "data") == name


@pytest.mark.parametrize("written", ["", "{}", "[]", "not json", json.dumps({"id": "../..", "file": 0})])
def test_a_damaged_file_is_replaced(tmp_path: Path, written: str) -> None:
    (tmp_path / "installation").write_text(written)
    assert installation_id(tmp_path) == installation_id(tmp_path)


def test_threads_that_begin_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda _: installation_id(tmp_path), range(40)))
    assert len(set(names)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["installation"]
