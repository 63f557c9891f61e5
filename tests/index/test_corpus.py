"""What counts as a loss, and what counts as whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BuildFailed, EmptyRepository, IndexCorrupt
from rag.index.corpus import Corpus, DocumentEntry, check_loss, check_whole, read_corpus, read_entries, write_entries
from rag.index.measure import Stopwatch
from rag.source.mirror import Skipped
from rag.types import Chunk, Document, Kind


def entry(name: str, chars: int = 1_000, chunks: int = 10, reason: str = "") -> DocumentEntry:
    return DocumentEntry(name, "", chars, chunks, reason)


FORMER = [entry(f"file{number}") for number in range(10)]


@pytest.mark.parametrize(
    "now",
    [
        FORMER,
        [],  # all files are gone: the repository's own loss (and EmptyRepository)
        FORMER[:2],
        [entry(f"file{number}", chars=100, chunks=1) for number in range(10)],  # all of them shrank
        [*FORMER[:7], *[entry(f"file{number}", 0, 0, "binary") for number in (7, 8, 9)]],  # just tolerated
        [*FORMER, *[entry(f"new{number}") for number in range(50)]],
    ],
    ids=["same", "gone", "most gone", "shrunk", "three skipped", "grown"],
)
def test_what_the_repository_lost_is_believed(now: list[DocumentEntry]) -> None:
    check_loss("larder", FORMER, now)


@pytest.mark.parametrize(
    "now",
    [
        [*FORMER[:6], *[entry(f"file{number}", 0, 0, "binary") for number in (6, 7, 8, 9)]],
        [entry(f"file{number}", chunks=6) for number in range(10)],
        [entry(f"file{number}", chars=900, chunks=4) for number in range(10)],
        # Growth elsewhere does not make up for it.
        [*[entry(f"file{number}", chunks=0) for number in range(10)], *[entry(f"new{number}") for number in range(50)]],
    ],
    ids=["four skipped", "fewer chunks", "fewer chunks than it shrank", "hidden by growth"],
)
def test_what_the_build_lost_fails_it(now: list[DocumentEntry]) -> None:
    with pytest.raises(BuildFailed, match="larder lost"):
        check_loss("larder", FORMER, now)


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 9)), max_size=8))
def test_the_same_files_are_never_a_loss(files: list[tuple[int, int]]) -> None:
    entries = [entry(str(number), chars, chunks) for number, (chars, chunks) in enumerate(files)]
    check_loss("larder", entries, entries)


def cut(documents: Iterable[Document], share: float) -> Iterator[tuple[Document, list[Chunk]]]:
    for document in documents:
        lines = document.text.split("\n")
        end = round(len(lines) * share)
        yield document, [Chunk(document.path, 1, end, Kind.LINES, "text", "\n".join(lines[:end]))] if end else []


def corpus_of(share: float) -> Corpus:
    found = [Document(f"f{number}", "\n".join(["line", ""] * 10), "text", "b", redactions=2) for number in range(5)]
    seen: list[tuple[int, int]] = []
    corpus = read_corpus(
        [Skipped("logo.png", "binary"), *found, Skipped("x.lock", "lock file")],
        lambda documents: cut(documents, share),
        Stopwatch(),
        lambda documents, chunks: seen.append((documents, chunks)),
    )
    assert len(seen) == 5
    return corpus


def test_a_corpus_counts_what_it_read() -> None:
    corpus = corpus_of(1.0)
    assert (corpus.documents, len(corpus.chunks), corpus.redactions) == (5, 5, 10)
    assert (corpus.lines, corpus.covered) == (50, 50)
    assert corpus.skipped == {"binary": 1, "lock file": 1}
    assert {item.path for item in corpus.entries} == {"logo.png", "f0", "f1", "f2", "f3", "f4", "x.lock"}
    check_whole("larder", corpus)


def test_a_fallback_and_a_line_that_is_cut_short_are_kept_with_the_file() -> None:
    text = "whole\n" + "much too long " * 9 + "\nall of it"
    pieces = [(1, "whole"), (2, "much too long"), (2, "much too long much"), (3, "all of"), (3, "it")]

    def chunk_many(documents: Iterable[Document]) -> Iterator[tuple[Document, list[Chunk]]]:
        for document in documents:
            yield document, [Chunk(document.path, line, line, Kind.LINES, "python", part) for line, part in pieces]

    found = [Document("a.py", text, "python", "b"), Document("b.py", text, "python", "b")]
    corpus = read_corpus(found, chunk_many, Stopwatch(), lambda *_: None, {"b.py": "crash"})
    assert [(item.language, item.fallback, item.cut_lines) for item in corpus.entries] == [("python", "", 1), ("python", "crash", 1)]


def test_chunks_that_leave_out_most_lines_fail_the_build() -> None:
    check_whole("larder", corpus_of(0.8))
    with pytest.raises(BuildFailed, match="lines"):
        check_whole("larder", corpus_of(0.5))
    with pytest.raises(BuildFailed):
        check_whole("larder", corpus_of(0.0))
    with pytest.raises(EmptyRepository, match=r"larder.*binary: 1"):
        check_whole("larder", read_corpus([Skipped("a", "binary")], lambda documents: cut(documents, 1), Stopwatch(), lambda *_: None))


def test_entries_come_back(tmp_path: Path) -> None:
    whole = DocumentEntry("c.py", "0f", 10, 2, language="python", fallback="timeout", cut_lines=3)
    entries = [entry("naïve \udce9\n.py"), entry("b", 0, 0, "binary"), whole]
    write_entries(tmp_path / "documents.jsonl", entries)
    assert read_entries(tmp_path / "documents.jsonl") == entries
    # As versions before ENTRIES_FORMAT 2 wrote them.
    (tmp_path / "documents.jsonl").write_text('["a.py", "0f", 10, 2, ""]\n["b", "", 0, 0, "binary"]\n')
    assert read_entries(tmp_path / "documents.jsonl") == [DocumentEntry("a.py", "0f", 10, 2), DocumentEntry("b", reason="binary")]
    (tmp_path / "documents.jsonl").write_text("[1, 2")
    with pytest.raises(IndexCorrupt):
        read_entries(tmp_path / "documents.jsonl")


def test_peak_memory_sees_what_was_given_back_and_what_children_hold() -> None:
    code = """
import subprocess, sys
from rag.index.measure import PeakMemory
with PeakMemory() as memory:
    before = memory.bytes
    block = bytearray(100_000_000)
    del block
    own = memory.bytes
    hold = "import time; block = bytearray(300_000_000); time.sleep(1.5)"
    subprocess.run([sys.executable, "-c", hold], check=True)
print(own - before, memory.bytes - before)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, env=environment)
    own, with_child = map(int, done.stdout.split())
    assert 90_000_000 < own < 150_000_000
    assert with_child > 280_000_000
