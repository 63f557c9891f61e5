from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.chunk_table import ChunkTable
from rag.retrieval.query import understand
from rag.retrieval.said import said_in, segments_of
from rag.types import Chunk, Kind

TEXTS = (
    'raise LockerError(f"The locker {number} cannot be opened by courier {name}")',
    '# who opens what: lockers, and how does it work\nsay("Sorry, the flap\\nis stuck")',
    "def open(locker, courier):\n    return locker.opened_by(courier)",
)


@pytest.fixture(scope="module")
def chunks(tmp_path_factory: pytest.TempPathFactory) -> ChunkTable:
    path: Path = tmp_path_factory.mktemp("said") / "chunks"
    ChunkTable.write(path, [Chunk(f"depot/{n}.py", 1, 2, Kind.MODULE, "python", text) for n, text in enumerate(TEXTS)])
    return ChunkTable.open(path)


@pytest.mark.parametrize(
    "message",
    [
        "The locker 12 cannot be opened by courier Ana",
        'LockerError: "the locker 7 cannot be opened by courier X", since this morning',
        "it says: THE LOCKER 4711 CANNOT BE OPENED BY COURIER q",
    ],
)
def test_a_pasted_message_is_found_where_it_is_said_whatever_it_is_said_of(chunks: ChunkTable, message: str) -> None:
    found = said_in(understand(message), range(len(TEXTS)), chunks)
    assert set(found) == {0}
    assert 0.4 < found[0] <= 1


@pytest.mark.parametrize("question", ["How does a courier open the locker?", "where is the flap", "LockerError", "open", "路由 door", ""])
def test_a_question_in_ones_own_words_says_nothing(chunks: ChunkTable, question: str) -> None:
    assert said_in(understand(question), range(len(TEXTS)), chunks) == {}


def test_the_more_of_it_stands_there_the_more_it_counts(chunks: ChunkTable) -> None:
    assert said_in(understand("what is it for and how does it work"), [0, 1, 2], chunks) == {}
    whole, part = "cannot be opened by courier", "cannot be opened by somebody who has lost a badge"
    assert said_in(understand(whole), [0], chunks)[0] > said_in(understand(part), [0], chunks)[0] > 0
    assert said_in(understand(whole), [1, 2], chunks) == {}


def test_words_are_run_together_only_where_nothing_stands_between_them() -> None:
    assert segments_of("Door 7 does not open (errno 3): try it again") == [["does", "not", "open"], ["try", "it", "again"]]
    assert segments_of("open it") == []


@given(st.text(max_size=200))
def test_any_text_gives_shares(chunks: ChunkTable, question: str) -> None:
    found = said_in(understand(question), range(len(TEXTS)), chunks)
    assert all(0 < share <= 1 for share in found.values())
