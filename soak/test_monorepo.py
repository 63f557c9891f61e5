"""A repository of 100,000 files: what its index takes in time and memory, that it can be asked before anything is embedded, and that a
limit on files is said and counted."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildEvent, BuildJob
from rag.index.listing import read_listing
from rag.index.measure import PeakMemory
from rag.source.mirror import Mirror, Skipped, SourceLimits
from rag.types import Document, Repository
from soak.conftest import Soak
from tests.index.fixtures import data_directory
from tests.source.repositories import ENV, git

DENSE = 10  # of one file in so many the vectors are made too
LONGEST_FIRST = 1_800.0  # seconds to the sparse part, on any machine


class _Ready(Exception):
    """Enough was built."""


def _stream(files: int, edition: int) -> Iterator[bytes]:
    """For `git fast-import`: folders of 100 files; `edition` changes a hundredth of the files."""
    yield f"commit refs/heads/main\ncommitter A <a@example.org> {1_700_000_000 + edition} +0000\ndata 1\nm\n".encode()
    if edition:
        yield b"from refs/heads/main^0\n"
    for number in range(0, files, 100 if edition else 1):
        text = f"def handler(request):\n    return service_{number}(request, {edition})\n".encode()
        yield b"M 100644 inline team%d/unit%d/file%d.py\ndata %d\n%s\n" % (number // 10_000, number // 100, number, len(text), text)


def _import(source: Path, files: int, edition: int) -> None:
    process = subprocess.Popen(["git", f"--git-dir={source}", "fast-import", "--quiet"], stdin=subprocess.PIPE, env=ENV)
    assert process.stdin is not None
    process.stdin.writelines(_stream(files, edition))
    process.stdin.close()
    assert process.wait(600) == 0


def _made(place: Path, models_directory: Path, files: int) -> tuple[Path, BuildJob, RepositoryIndex]:
    source = place / "monorepo.git"
    git("init", "-q", "--bare", "-b", "main", source)
    _import(source, files, 0)
    job = BuildJob(Repository("monorepo", str(source)), data_directory(place / "data", models_directory), threads=1)
    return source, job, RepositoryIndex(repository_directory(job.data_dir, "monorepo"), EdgeBackend(), describe(EmbeddingSettings()))


def test_a_monorepo_can_be_asked_before_anything_is_embedded(tmp_path: Path, models_directory: Path, soak: Soak) -> None:
    _, job, index = _made(tmp_path, models_directory, soak.files)

    def on_event(event: BuildEvent) -> None:
        if event.stage == "sparse_ready":
            raise _Ready

    started, begun = time.monotonic(), sum(os.times()[:4])
    with PeakMemory() as memory, pytest.raises(_Ready):
        build(job, on_event)
    ready = time.monotonic() - started
    with index.open() as generation:
        assert generation.dense is None
        assert (generation.info.documents, len(generation.chunks)) == (soak.files, soak.files)
        assert generation.manifest.skipped == {}
        asked = time.monotonic()
        [(row, _)] = generation.sparse.search([f"service_{soak.files - 1}"], 5)
        answered = time.monotonic() - asked
        assert generation.chunks.get([row])[0].path.endswith(f"/file{soak.files - 1}.py")
    assert len(read_listing(index.layout).entries) == soak.files
    soak.done.append(
        f"monorepo: {soak.files:,} files can be asked after {ready:.1f} s ({sum(os.times()[:4]) - begun:.1f} s of processors),"
        f" {memory.bytes / 1e6:,.0f} MB at most, {index.size_bytes() / 1e6:,.0f} MB on disk; one word found in {1000 * answered:.1f} ms"
    )
    assert ready < LONGEST_FIRST
    index.close()


def test_a_changed_hundredth_costs_a_hundredth(tmp_path: Path, models_directory: Path, soak: Soak) -> None:
    files = max(100, soak.files // DENSE)
    source, job, index = _made(tmp_path, models_directory, files)
    first = build(job, lambda event: None)
    assert (first.documents, first.chunks, first.embedded) == (files, files, files)
    _import(source, files, 1)
    second = build(job, lambda event: None)
    soak.done.append(
        f"monorepo: of {files:,} files whole after {first.seconds['total']:.1f} s, {first.peak_memory_bytes / 1e6:,.0f} MB at most;"
        f" with 1 % changed {second.seconds['total']:.1f} s, {second.embedded:,} of {second.chunks:,} chunks embedded"
    )
    assert second.chunks == files
    assert second.embedded <= 0.05 * files
    index.close()


def test_a_limit_on_files_is_counted(tmp_path: Path, soak: Soak) -> None:
    source = tmp_path / "monorepo.git"
    git("init", "-q", "--bare", "-b", "main", source)
    _import(source, soak.files, 0)
    limit = soak.files // 2
    found = [0, 0]
    for item in Mirror.existing(source).documents("main", limits=SourceLimits(max_files=limit)):
        found[isinstance(item, Skipped)] += 1
        assert isinstance(item, Document) or item.reason == "too many files"
    assert found == [limit, soak.files - limit]
    soak.done.append(f"monorepo: with a limit of {limit:,} files, {found[1]:,} left out, each for that reason")
