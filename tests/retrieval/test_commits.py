"""Files gain by commits that say what is asked: by hand, and through the whole of retrieval."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.index.chunk_table import ChunkTable
from rag.index.generation import Generation
from rag.index.history import HistoryFile, write_history
from rag.index.messages import Messages, MessageTally
from rag.index.stems import stem
from rag.retrieval.commits import CommitsOfFiles, changed_by_commits
from rag.retrieval.retriever import Retriever
from rag.source.history.changes import Change
from rag.source.history.tally import Tally
from rag.types import Chunk, Kind
from tests.index.fixtures import SampleIndex

FILES = ("door.py", "hinge.py", "lock.py", "wall.py")
COMMITS = (
    ("Mend squeaking doors", ("door.py",)),
    ("Mend squeaking hinges", ("hinge.py", "lock.py")),
    ("Paint", ("wall.py", "gone.py")),
    *[(f"Number {number}", ("lock.py",)) for number in range(6)],
)


def table(directory: Path) -> ChunkTable:
    ChunkTable.write(directory / "chunks", [Chunk(path, 1, 2, Kind.LINES, "python", "x = 1\n") for path in FILES])
    return ChunkTable.open(directory / "chunks")


def messages(paths: tuple[str, ...], commits: tuple[tuple[str, tuple[str, ...]], ...]) -> Messages:
    tally = MessageTally(paths)
    for message, files in commits:
        tally.add(Change("1" * 40, 1_600_000_000, "Ana", files, message))
    return tally.messages()


def write(directory: Path, paths: tuple[str, ...], commits: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    """As a build does. Nothing but the messages is asked."""
    write_history(directory, Tally(paths, 0, 0, named=True).history("1" * 40, ""), messages(paths, commits))


def changed(directory: Path, question: str) -> dict[str, float]:
    # Files of the history that hold no chunk, and another order: numbers are not those of the table.
    of_files = CommitsOfFiles(messages(("empty.txt", *reversed(FILES)), COMMITS), table(directory))
    shares = of_files.changed([stem(word) for word in question.split()])
    return {path: round(share, 3) for path, share in zip(FILES, shares.tolist(), strict=True) if share}


def test_the_nearest_commit_counts_most_and_a_file_that_everything_changes_little(tmp_path: Path) -> None:
    found = changed(tmp_path, "squeaking hinges")
    assert list(found) == ["door.py", "hinge.py", "lock.py"]
    # Half of the commit about hinges is hinge.py, changed by it alone, and half lock.py, changed seven times.
    assert found["hinge.py"] == 1
    assert found["lock.py"] == pytest.approx(1 / 7**0.5, abs=0.001)
    assert 0 < found["door.py"] < 1


def test_what_no_commit_says_says_nothing(tmp_path: Path) -> None:
    assert changed(tmp_path, "kubernetes pods") == {}
    assert changed(tmp_path / "other", "") == {}
    nothing = CommitsOfFiles(messages((), ()), ChunkTable.open(tmp_path / "chunks"))
    assert nothing.changed(["door"]).tolist() == [0.0] * len(FILES)


def test_of_a_commit_only_files_that_stand_gain(tmp_path: Path) -> None:
    assert changed(tmp_path, "paint") == {"wall.py": 1.0}


QUESTION = "the queue jammed overnight, nobody could fetch anything and the operator restarted everything by hand this morning again"

MEANT = "web/notify.js"


async def test_a_file_that_never_says_it_is_found_by_the_commit_that_does(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex, tmp_path: Path
) -> None:
    async def found(of: Generation) -> tuple[list[str], list[str]]:
        result = await retriever.retrieve(QUESTION, of, sample_index.repository, explain=True, group="code")
        return [one.chunk.path for one in result.results], list(result.explanation)

    paths = tuple(generation.chunks.paths)
    said = (("Stop the queue from jamming overnight", (MEANT,)), ("Explain", ("README.md",)), ("Heat", ("settings.toml",)))
    write(tmp_path, paths, said)
    told = replace(generation, history=HistoryFile(tmp_path))
    (without, _), (with_it, explained) = await found(generation), await found(told)
    assert with_it.index(MEANT) < without.index(MEANT)
    assert any("commits" in line and MEANT in line for line in explained)
    masked = replace(generation, history=HistoryFile(tmp_path, named=False))
    assert (await found(masked))[0] == without


def test_it_follows_the_history_that_arrives(generation: Generation, tmp_path: Path) -> None:
    arriving = replace(generation, history=HistoryFile(tmp_path))
    assert not changed_by_commits(["heat"], arriving).any()
    paths = tuple(generation.chunks.paths)
    for path in ("settings.toml", "README.md"):
        write(tmp_path, paths, (("Heat", (path,)), ("Paint", ("web/notify.js",)), ("Mend", ("gate/retry.go",))))
        shares = changed_by_commits(["heat"], arriving)
        assert [paths[number] for number in np.flatnonzero(shares).tolist()] == [path]
