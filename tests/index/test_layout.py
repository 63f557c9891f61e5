"""Names of generations: they sort by time, and a pointer to one of the first builds' names is still read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag.errors import IndexCorrupt
from rag.index.layout import Layout, Pointer, new_generation

COMMIT = "62bbeb8c671c6ab64af3aae54f45b6406a501b7f"
AT = datetime(2026, 11, 30, 0, 16, 7, 250_000, tzinfo=UTC)


def test_builds_within_one_second_sort_by_time() -> None:
    moments = [AT + timedelta(milliseconds=step) for step in range(0, 700, 7)]
    names = [new_generation(moment, COMMIT) for moment in moments]
    assert names == sorted(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["20261130T001607250000-62bbeb8c-8122ef", "20261129T213300-62bbeb8c-8122ef"])
def test_a_pointer_names_a_generation_new_or_old(tmp_path: Path, name: str) -> None:
    layout = Layout(tmp_path)
    layout.publish(name, "")
    assert layout.current() == Pointer(name)
    layout.generation(name).mkdir(parents=True)
    assert layout.clean(layout.current()) == []


@pytest.mark.parametrize("name", ["", "..", "20261129T2133-62bbeb8c-8122ef", "20261129T213300123-62bbeb8c-8122ef"])
def test_a_pointer_to_what_is_no_generation_is_damage(tmp_path: Path, name: str) -> None:
    layout = Layout(tmp_path)
    layout.publish(name, "")
    with pytest.raises(IndexCorrupt):
        layout.current()


def test_a_new_name_can_be_pointed_to(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    name = new_generation(AT, COMMIT)
    layout.publish(name, "")
    assert layout.current() == Pointer(name)
