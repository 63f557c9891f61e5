"""Clones by the three names that people give them, bare or with a work tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rag.evaluation.clones import find_clone


@pytest.mark.parametrize("name", ["owner+name", "owner/name", "name", "owner+name.git", "owner/name.git", "name.git"])
@pytest.mark.parametrize("bare", [True, False])
def test_found(tmp_path: Path, name: str, bare: bool) -> None:
    subprocess.run(["git", "init", "-q", *(["--bare"] if bare else []), str(tmp_path / name)], check=True)
    assert find_clone(tmp_path, "owner/name") == tmp_path / name
    assert find_clone(tmp_path, "other/thing") is None


def test_the_full_name_wins_and_an_empty_directory_is_no_clone(tmp_path: Path) -> None:
    (tmp_path / "owner+name").mkdir()
    assert find_clone(tmp_path, "owner/name") is None
    for name in ("name", "owner/name"):
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / name)], check=True)
    assert find_clone(tmp_path, "owner/name") == tmp_path / "owner/name"
    assert find_clone(tmp_path, "name") == tmp_path / "name"
