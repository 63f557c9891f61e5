"""The chunk table: what was written comes back, and masks filter as the filter says."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import IndexCorrupt
from rag.index.chunk_table import ChunkTable
from rag.index.globs import matching
from rag.types import Chunk, Filters, Kind, is_prose

# Lone surrogates stand for bytes that are no UTF-8, as in file names.
TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)
CHUNKS = st.builds(
    Chunk,
    path=TEXT,
    start_line=st.integers(1, 10**9),
    end_line=st.integers(1, 10**9),
    kind=st.sampled_from(Kind),
    language=st.sampled_from(["python", "go", "text"]),
    text=TEXT,
    symbol=TEXT,
    scope=TEXT,
    defines=st.lists(TEXT, max_size=3).map(tuple),
    signature=TEXT,
    doc=TEXT,
    module_doc=TEXT,
)


@given(st.lists(CHUNKS, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_what_was_written_comes_back(chunks: list[Chunk], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        ChunkTable.write(Path(directory) / "chunks", chunks)
        table = ChunkTable.open(Path(directory) / "chunks")
        assert len(table) == len(chunks)
        assert list(table.all()) == chunks
        rows = data.draw(st.lists(st.integers(0, len(chunks) - 1), max_size=5)) if chunks else []
        assert table.get(rows) == [chunks[row] for row in rows]
        assert [table.paths[number] for number in table.path_numbers] == [chunk.path for chunk in chunks]


@given(
    st.lists(
        st.builds(
            Chunk,
            st.sampled_from(["a.py", "src/b.go", "src/x/c.py"]),
            st.just(1),
            st.just(1),
            st.sampled_from(Kind),
            st.sampled_from(["python", "go"]),
            st.just(""),
        ),
        max_size=12,
    ),
    st.lists(st.sampled_from(["*.py", "src", "src/*.go", "nothing"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["python", "go", "cobol"]), max_size=2).map(tuple),
    st.lists(st.sampled_from([*map(str, Kind), "poem"]), max_size=2).map(tuple),
)
@settings(max_examples=100, deadline=None)
def test_a_mask_keeps_what_passes_every_field(
    chunks: list[Chunk], path: tuple[str, ...], language: tuple[str, ...], kind: tuple[str, ...]
) -> None:
    filters = Filters(path, language, kind)
    with tempfile.TemporaryDirectory() as directory:
        ChunkTable.write(Path(directory) / "chunks", chunks)
        mask = ChunkTable.open(Path(directory) / "chunks").mask(filters)
    if not filters:
        assert mask is None
        return
    assert mask is not None
    assert mask.dtype == np.bool_
    assert mask.tolist() == [
        (not path or bool(matching(path, [chunk.path])))
        and (not language or chunk.language in language)
        and (not kind or chunk.kind in kind)
        for chunk in chunks
    ]


@pytest.mark.parametrize(
    ("glob", "fitting"),
    [
        ("*.py", {"a.py", "src/b.py", "src/deep/c.py", "!odd.py", "#odd.py"}),
        ("src/*.py", {"src/b.py"}),
        ("src/**", {"src/b.py", "src/deep/c.py", "src/d.go"}),
        ("src", {"src/b.py", "src/deep/c.py", "src/d.go"}),
        ("src/deep/", {"src/deep/c.py"}),
        ("**/deep/*", {"src/deep/c.py"}),
        ("/a.py", {"a.py"}),
        ("[ab].py", {"a.py", "src/b.py"}),
        ("!odd.py", {"!odd.py"}),
        ("#odd.py", {"#odd.py"}),
        ("A.PY", set()),
        ("", set()),
    ],
)
def test_globs(glob: str, fitting: set[str]) -> None:
    paths = ["a.py", "src/b.py", "src/deep/c.py", "src/d.go", "!odd.py", "#odd.py"]
    assert matching([glob], paths) == fitting


def test_rows_outside_are_an_error(tmp_path: Path) -> None:
    ChunkTable.write(tmp_path / "chunks", [Chunk("a", 1, 1, Kind.LINES, "text", "x")])
    table = ChunkTable.open(tmp_path / "chunks")
    for row in (-1, 1):
        with pytest.raises(IndexError):
            table.get([row])


def test_threads_share_a_table(tmp_path: Path) -> None:
    chunks = [Chunk(f"f{row}.py", row + 1, row + 2, Kind.LINES, "python", f"line {row}\n" * (row % 7)) for row in range(500)]
    ChunkTable.write(tmp_path / "chunks", chunks)
    table = ChunkTable.open(tmp_path / "chunks")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda row: table.get([row])[0], range(500))) == chunks


@pytest.mark.parametrize("name", ["records.bin", "offsets.npy", "columns.npy", "names.json", "defines.bin", "defines_ends.npy"])
def test_files_that_do_not_belong_together_are_corrupt(tmp_path: Path, name: str) -> None:
    chunks = [Chunk(f"f{row}.py", 1, 1, Kind.LINES, "python", "x" * row, defines=(f"f{row}",)) for row in range(9)]
    ChunkTable.write(tmp_path / "a", chunks)
    ChunkTable.write(tmp_path / "b", chunks[:4])
    (tmp_path / "a" / name).unlink()
    with pytest.raises(IndexCorrupt):
        ChunkTable.open(tmp_path / "a")
    if name != "names.json":
        (tmp_path / "b" / name).rename(tmp_path / "a" / name)
        with pytest.raises(IndexCorrupt):
            ChunkTable.open(tmp_path / "a")


def chunk(path: str, language: str) -> Chunk:
    return Chunk(path, 1, 1, Kind.LINES, language, "x")


@pytest.mark.parametrize("path", ["Tests/Fixtures/door.md", "testdata/door.md", "__fixtures__/a/door.md", "x/__snapshots__/door.md"])
def test_what_a_test_reads_or_records_is_no_prose(path: str) -> None:
    assert not is_prose(path, "markdown")
    assert is_prose("docs/writing-fixtures/door.md", "markdown")
    assert is_prose("test/fixtures/doors/README.md", "markdown")
    assert is_prose("lib/Depot/Guide.pod", "perl")
    assert not is_prose("lib/Depot/Door.pm", "perl")


def test_what_is_stored_of_a_chunk_can_be_looked_into(tmp_path: Path) -> None:
    ChunkTable.write(tmp_path / "chunks", [Chunk("a.py", 1, 1, Kind.LINES, "python", 'Say("Türe OFFEN")'), chunk("b.py", "python")])
    table = ChunkTable.open(tmp_path / "chunks")
    assert "türe offen".encode() in table.written(0)
    assert b"offen" not in table.written(1)


def test_of_files_of_no_known_language_only_what_people_read_is_prose(tmp_path: Path) -> None:
    prose = ["docs/a.md", "LICENSE", "RELEASE-NOTES", "docs/latest/a.txt", "depot/readme", "doc/SPEC.rdoc", "docs/a.Rmd"]
    odd = [
        "api/depot.api",
        "rules.pro",
        "tests/mocks/out.txt",
        "src/jvmTest/stack/out.txt",
        "doortest/out.txt",
        "depot/world",
        "depot/.rspec",
    ]
    chunks = [chunk(path, "markdown" if path.endswith(".md") else "text") for path in (*prose, *odd)] + [chunk("depot/a.py", "python")]
    ChunkTable.write(tmp_path / "chunks", chunks)
    table = ChunkTable.open(tmp_path / "chunks")
    assert [is_prose(one.path, one.language) for one in chunks] == table.files.prose.tolist()
    assert table.files.prose.tolist() == [True] * len(prose) + [False] * (len(odd) + 1)
    assert table.languages == [one.language for one in chunks]


def test_an_empty_table_has_no_files(tmp_path: Path) -> None:
    ChunkTable.write(tmp_path / "chunks", [])
    table = ChunkTable.open(tmp_path / "chunks")
    assert len(table.files) == len(table.languages) == 0
