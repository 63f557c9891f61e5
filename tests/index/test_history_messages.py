"""What commits say, beside the history of an index: written by builds, continued, and never worth a history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rag.index.history import HISTORY, HistoryFile, read_history_file, read_messages, write_history
from rag.index.messages import Messages, MessageTally
from tests.index.fixtures import commit_files
from tests.index.test_builder import Room, room
from tests.index.test_history import history_of, same, sample, spoken

__all__ = ["room"]


def test_what_commits_say_lies_beside_it(tmp_path: Path) -> None:
    write_history(tmp_path, sample())
    assert read_messages(tmp_path / HISTORY) is None
    write_history(tmp_path, sample(), spoken())
    found, history = read_messages(tmp_path / HISTORY), read_history_file(tmp_path / HISTORY)
    assert found is not None
    assert history is not None
    assert same(history, sample())
    assert all(np.array_equal(getattr(found, name), getattr(spoken(), name)) for name in Messages.__slots__)
    for nothing in (replace(spoken(), terms=()), MessageTally(()).messages()):
        write_history(tmp_path, sample(), nothing)
        assert read_history_file(tmp_path / HISTORY) is not None
    assert HistoryFile(tmp_path, named=False).messages() is None


def test_damage_to_what_commits_say_costs_no_history(tmp_path: Path) -> None:
    write_history(tmp_path, sample(), replace(spoken(), touched=np.array([7], dtype=np.int32)))
    assert read_messages(tmp_path / HISTORY) is None
    assert read_history_file(tmp_path / HISTORY) is not None


def said_by(room: Room) -> Messages | None:
    with room.index.open() as generation:
        return generation.history.messages()


def test_a_build_keeps_what_commits_say_and_the_next_one_continues_it(room: Room) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    commit_files(room.source, {"larder/lockers.py": "x = 1\n"}, f"Ventilate lockers\n\nwith {key}\n\nSigned-off-by: Eve <eve@example.com>")
    room.build()
    first = said_by(room)
    assert first is not None
    assert "ventil" in first.terms
    assert not {"eve", "example", key.lower()} & set(first.terms)
    (stored,) = room.index.layout.generations.rglob(HISTORY)
    history = read_history_file(stored)
    assert history is not None
    write_history(stored.parent, history, replace(first, terms=tuple(f"{term}-former" for term in first.terms)))
    commit_files(room.source, {"new.py": "y = 2\n"}, "Heat parcels")
    room.build()
    second = said_by(room)
    assert second is not None
    assert {"heat", "ventil-former"} <= set(second.terms)  # only what is new was read


def test_what_commits_say_is_added_to_a_history_without_it(room: Room) -> None:
    room.build()
    (stored,) = room.index.layout.generations.rglob(HISTORY)
    history = read_history_file(stored)
    assert history is not None
    write_history(stored.parent, history)  # as earlier versions did
    assert said_by(room) is None
    assert room.build().unchanged
    assert said_by(room) is not None
    write_history(stored.parent, history)
    commit_files(room.source, {"new.py": "y = 2\n"}, "Heat parcels")
    room.build()
    found = said_by(room)
    assert found is not None
    assert len(found) == 2  # all of the history was read again
    assert len(history_of(room).authors) == 1
