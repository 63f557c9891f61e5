from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag.index.chunk_table import ChunkTable
from rag.retrieval.definitions import definitions_of
from rag.retrieval.query import understand
from rag.types import Chunk, Kind

CHUNKS = (
    # The head of a class with its first members, which is called after one of these; one by itself; one of its members beside another.
    ("depot/parcel.rb", "Depot.Parcel.new", Kind.METHOD, ("Parcel", "new")),
    ("depot/proxy/parcel.rb", "Depot.Proxy.Parcel", Kind.CLASS, ("Parcel",)),
    ("depot/parcel.rb", "Depot.Parcel.weigh", Kind.METHOD, ("weigh", "drop")),
    ("depot/bin.rb", "Depot.Bin.drop", Kind.METHOD, ("drop",)),
    ("depot/all.rb", "Depot.all", Kind.METHOD, ("all", "Parcel")),
)
FILES = {"depot/parcel.rb": 0, "depot/proxy/parcel.rb": 1, "depot/bin.rb": 2, "depot/all.rb": 3}


@pytest.fixture(scope="module")
def chunks(tmp_path_factory: pytest.TempPathFactory) -> ChunkTable:
    path: Path = tmp_path_factory.mktemp("definitions") / "chunks"
    rows = sorted(enumerate(CHUNKS), key=lambda one: (FILES[one[1][0]], one[0]))
    ChunkTable.write(
        path, [Chunk(file, n, n, kind, "ruby", "x", symbol=symbol, defines=defines) for n, (file, symbol, kind, defines) in rows]
    )
    return ChunkTable.open(path)


def strength(chunks: ChunkTable, question: str) -> dict[str, float]:
    found = definitions_of(understand(question), chunks, 50).strength
    return {path: found[number] for path, number in FILES.items() if number in found}


def test_a_type_is_defined_where_its_head_stands_with_its_first_members(chunks: ChunkTable) -> None:
    assert strength(chunks, "Parcel") == {"depot/parcel.rb": 1.0, "depot/proxy/parcel.rb": 1.0, "depot/all.rb": 0.4}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Depot::Parcel", {"depot/parcel.rb": 1.0, "depot/proxy/parcel.rb": 0.5, "depot/all.rb": 0.4}),
        ("Depot::Proxy::Parcel", {"depot/parcel.rb": 0.5, "depot/proxy/parcel.rb": 1.0, "depot/all.rb": 0.2}),
        ("Parcel#drop", {"depot/parcel.rb": 0.4, "depot/bin.rb": 0.4}),
        ("Bin.drop", {"depot/parcel.rb": 0.2, "depot/bin.rb": 0.8}),
    ],
)
def test_of_namesakes_the_one_is_meant_that_belongs_where_the_question_says(
    chunks: ChunkTable, question: str, found: dict[str, float]
) -> None:
    assert strength(chunks, question) == found


def test_the_rows_that_are_meant_are_of_that_one(chunks: ChunkTable) -> None:
    for question, path in (("Depot::Proxy::Parcel", "depot/proxy/parcel.rb"), ("Parcel#drop", "depot/parcel.rb")):
        rows = definitions_of(understand(question), chunks, 50).rows
        assert {one.path for one in chunks.get(sorted(rows))} == {path}


def test_where_none_belongs_there_all_are_as_strong(chunks: ChunkTable) -> None:
    assert strength(chunks, "Elsewhere::Parcel") == strength(chunks, "Parcel")


@pytest.mark.parametrize(("reading", "only_tests"), [("depot/settings.py", False), ("tests/more.py", True), ("docs/doors.md", True)])
def test_what_tests_alone_define_but_code_reads_is_not_asked_of_the_tests(tmp_path: Path, reading: str, only_tests: bool) -> None:
    language = "markdown" if reading.endswith(".md") else "python"
    ChunkTable.write(
        tmp_path / "chunks",
        [
            Chunk("tests/run.sh", 1, 1, Kind.MODULE, "bash", "DEPOT_DOORS=3", symbol="", defines=("DEPOT_DOORS",)),
            Chunk(reading, 1, 1, Kind.MODULE, language, "getenv('DEPOT_DOORS')"),
        ],
    )
    chunks = ChunkTable.open(tmp_path / "chunks")
    query = understand("what does DEPOT_DOORS change")
    holders = {"depot_doors": np.array([0, 1], dtype=np.int32)}
    assert definitions_of(query, chunks, 50, holders).only_tests == only_tests
    assert definitions_of(query, chunks, 50).only_tests


def test_a_function_of_the_tests_is_asked_of_the_tests_whoever_has_one_called_so(tmp_path: Path) -> None:
    ChunkTable.write(
        tmp_path / "chunks",
        [
            Chunk("tests/door.py", 1, 1, Kind.FUNCTION, "python", "def open_all(): pass", symbol="open_all", defines=("open_all",)),
            Chunk("depot/door.py", 1, 1, Kind.MODULE, "python", "station.open_all()"),
        ],
    )
    holders = {"open_all": np.array([0, 1], dtype=np.int32)}
    assert definitions_of(understand("what does open_all do"), ChunkTable.open(tmp_path / "chunks"), 50, holders).only_tests


@pytest.mark.parametrize(
    ("elsewhere", "documented"),
    [((), True), (("tests/doors.py", "python"), True), (("depot/doors.py", "python"), False), (("docs/more.md", "markdown"), True)],
)
def test_a_setting_that_only_a_heading_is_called_after_is_documented(tmp_path: Path, elsewhere: tuple[str, ...], documented: bool) -> None:
    places = [("docs/settings.md", "markdown"), *([elsewhere] if elsewhere else [])]
    ChunkTable.write(
        tmp_path / "chunks",
        [
            Chunk(path, 1, 1, Kind.SECTION, language, "depot_doors", symbol="depot_doors", defines=("depot_doors",))
            for path, language in sorted(places)
        ],
    )
    chunks = ChunkTable.open(tmp_path / "chunks")
    assert definitions_of(understand("what does depot_doors do"), chunks, 50).documented == documented
    assert not definitions_of(understand("what does depot_locks do"), chunks, 50).documented
