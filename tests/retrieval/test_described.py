"""What the paths of an index say of its files together: what tests are about, where most of the code is, what is settings."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from rag.index.chunk_table import ChunkTable
from rag.retrieval.definitions import Definitions, definitions_of
from rag.retrieval.described import Described, describe, paths_met
from rag.retrieval.evidence import Evidence
from rag.retrieval.matching import Asked
from rag.retrieval.path_columns import columns_of
from rag.retrieval.per_index import once_per_index
from rag.retrieval.pointed import Pointed
from rag.retrieval.query import understand
from rag.retrieval.ranking import Group, Ranked, rank
from rag.retrieval.signals import CODE, PROSE, Weights
from rag.retrieval.subject import Subject
from rag.retrieval.trunk import trunk_of
from rag.source.languages import language_of
from rag.types import Chunk, Kind

# Path -> chunks. Sixteen chunks of code lie in src, one in tools.
FILES = {
    ".github/workflows/doors.yml": 3,
    "README.md": 2,
    "config/doors.yaml": 1,
    "examples/open.py": 40,
    "fixtures/answer": 1,
    "src/depot/door.py": 10,
    "src/depot/hinge.py": 6,
    "tests/depot/door_test.py": 30,
    "tests/depot/test_nothing.py": 1,
    "tools/hinge.py": 1,
}


def table_of(directory: Path, files: dict[str, int]) -> ChunkTable:
    chunks = [
        Chunk(path, 2 * number + 1, 2 * number + 2, Kind.LINES, language_of(path), f"line {number}")
        for path, count in files.items()
        for number in range(count)
    ]
    ChunkTable.write(directory / "chunks", chunks)
    return ChunkTable.open(directory / "chunks")


@pytest.fixture
def table(tmp_path: Path) -> ChunkTable:
    return table_of(tmp_path, FILES)


def ranked(subject: Subject, evidence: Evidence, table: ChunkTable, weights: Weights) -> list[Ranked]:
    """Of one group alone, up to ten."""
    (found,) = rank(subject, evidence, [Group(evidence, describe(evidence.files, table, subject.asked), weights)], limit=10)
    return found


def described(table: ChunkTable) -> Described:
    return describe(np.arange(len(table.paths)), table, Asked(["door"], lambda term: 1.0))


def test_the_trunk_is_where_most_ordinary_code_lies(table: ChunkTable) -> None:
    shares = dict(zip(table.paths, trunk_of(table).tolist(), strict=True))
    assert shares == pytest.approx(dict.fromkeys(FILES, 0.0) | {"src/depot/door.py": 1.0, "src/depot/hinge.py": 1.0, "tools/hinge.py": 0.5})
    assert trunk_of(table) is trunk_of(table)


def test_what_is_said_of_some_files_is_what_is_said_of_all(table: ChunkTable) -> None:
    asked, some = Asked(["door", "depot"], lambda term: 1.0), np.array([1, 3, 5, 7])
    all_of_them, these = described(table), describe(some, table, asked)
    for name in ("test", "example", "old", "data", "odd", "changes", "translated", "levels", "trunk"):
        assert getattr(these, name).tolist() == getattr(all_of_them, name)[some].tolist()
    assert these.subjects.tolist() == all_of_them.subjects[some].tolist()
    met = describe(some, table, asked, paths_met(table, asked))
    assert met.names.coverage.tolist() == these.names.coverage.tolist()
    assert these.names.coverage.tolist() == [0.0, 0.0, 0.5, 0.5]
    assert these.directories.coverage.tolist() == [0.0, 0.0, 0.5, 0.5]
    assert columns_of(table) is columns_of(table)


def test_what_was_found_for_an_index_goes_with_it(tmp_path: Path) -> None:
    class Known:
        pass

    found = once_per_index(lambda chunks: Known())
    table = table_of(tmp_path, {"src/door.py": 1})
    kept = weakref.ref(found(table))
    assert found(table) is kept()
    del table
    gc.collect()
    assert kept() is None


def test_without_ordinary_code_nothing_is_the_trunk(tmp_path: Path) -> None:
    assert trunk_of(table_of(tmp_path, {"README.md": 2, "tests/test_door.py": 1})).tolist() == [0.0, 0.0]


def test_settings_and_files_of_no_known_language_are_told_from_code_and_prose(table: ChunkTable) -> None:
    about = described(table)
    paths = np.array(table.paths)
    assert paths[about.odd].tolist() == ["fixtures/answer"]
    assert paths[about.data & ~about.odd].tolist() == [".github/workflows/doors.yml", "config/doors.yaml"]
    assert paths[about.ordinary].tolist() == ["README.md", "src/depot/door.py", "src/depot/hinge.py", "tools/hinge.py"]


def test_what_a_test_says_counts_for_what_it_tests(table: ChunkTable) -> None:
    text = np.zeros(len(FILES))
    text[list(FILES).index("tests/depot/door_test.py")] = 0.8
    text[list(FILES).index("tests/depot/test_nothing.py")] = 0.7
    of_tests = described(table).of_their_tests(text)
    assert dict(zip(FILES, of_tests.tolist(), strict=True)) == dict.fromkeys(FILES, 0.0) | {"src/depot/door.py": 0.8}


def test_a_name_that_many_files_bear_is_nobodys(tmp_path: Path) -> None:
    many = {f"src/{part}/door.py": 1 for part in "abcd"} | {"tests/door_test.py": 1}
    assert not described(table_of(tmp_path, many)).of_their_tests(np.ones(5)).any()


@pytest.mark.parametrize("group", [CODE, PROSE])
@pytest.mark.parametrize("sparse", [[-1.0, -0.2], [0.0, 0.0], [0.0, 1.0]])
@pytest.mark.parametrize("dense", [None, [-3.0, -0.5], [0.0, 0.0], [-2.0, 1.0], [-2.0, 1e-9]])
def test_scores_stay_of_one_size_where_nothing_is_like_the_question(
    table: ChunkTable, group: Weights, sparse: list[float], dense: list[float] | None
) -> None:
    rows, files = table.files.starts[[5, 6]], np.array([5, 6])
    places = np.array([0, 1])
    evidence = Evidence(files, rows, places, places, np.array(sparse), None if dense is None else np.array(dense))
    query = understand("latch")
    asked = Asked(query.terms, lambda term: 1.0)
    subject = Subject(query, asked, {}, Definitions({}, False), Pointed(), np.zeros(len(table)), np.zeros(len(table.paths)), 0.0, 0.0)
    found = ranked(subject, evidence, table, group)
    assert len(found) == 2
    assert all(-4 < one.score < 4 for one in found)


@pytest.mark.parametrize(
    ("question", "closely"),
    [
        ("How does DoorLatch close itself?", True),
        ("what is DoorLatch for", True),
        ("DoorLatch", False),
        ("where is DoorLatch made", False),
        ("How are doors closed?", False),
    ],
)
def test_more_of_what_a_question_names_and_asks_about_is_shown(table: ChunkTable, question: str, closely: bool) -> None:
    door, hinge = (table.paths.index(f"src/depot/{name}.py") for name in ("door", "hinge"))
    starts = table.files.starts[[door, hinge]]
    rows = np.array([starts[0], starts[0] + 1, starts[1], starts[1] + 1])
    sparse = np.array([1.0, 0.9, 0.9, 0.81])
    evidence = Evidence(np.array([door, hinge]), rows, np.array([0, 2]), np.array([0, 0, 1, 1]), sparse, None)
    query = understand(question)
    definitions = Definitions({door: 1.0} if query.identifiers else {}, False)
    asked = Asked(query.terms, lambda term: 1.0)
    subject = Subject(query, asked, {}, definitions, Pointed(), np.zeros(len(table)), np.zeros(len(table.paths)), 0.0, 0.0)
    found = ranked(subject, evidence, table, CODE)
    factors = {table.get([one.row])[0].path: one.shares["× repeat"] for one in found if "× repeat" in one.shares}
    usual = max(CODE.repeat, CODE.repeat_share * 0.9)
    assert factors["src/depot/hinge.py"] == pytest.approx(usual)
    assert factors["src/depot/door.py"] == pytest.approx(max(CODE.member_repeat, CODE.member_share * 0.9) if closely else usual)


@pytest.mark.parametrize(
    ("question", "meant"), [("what does Door.open do", ["Door.open"]), ("where is open defined in Door", []), ("Hatch.open", [])]
)
def test_a_qualified_name_means_its_own_definition(tmp_path: Path, question: str, meant: list[str]) -> None:
    symbols = ["Door", "Door.open_all", "Door.open", "Locker.open"]
    chunks = [
        Chunk("src/door.py", 2 * at + 1, 2 * at + 2, Kind.METHOD, "python", "door", symbol=symbol, defines=(symbol.rpartition(".")[2],))
        for at, symbol in enumerate(symbols)
    ]
    ChunkTable.write(tmp_path / "doors", chunks)
    table = ChunkTable.open(tmp_path / "doors")
    query = understand(question)
    definitions = definitions_of(query, table, 10)
    assert [one.symbol for one in table.get(sorted(definitions.rows))] == meant
    evidence = Evidence(np.array([0]), np.arange(4), np.array([0]), np.zeros(4, dtype=np.int64), np.array([0.8, 1.0, 0.9, 0.2]), None)
    asked = Asked(query.terms, lambda term: 1.0)
    subject = Subject(query, asked, {}, definitions, Pointed(), np.zeros(4), np.zeros(len(table.paths)), 0.0, 0.0)
    first = ranked(subject, evidence, table, CODE)[0].row
    assert symbols[first] == (meant[0] if meant else "Door.open_all")
