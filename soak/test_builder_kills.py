"""kill -9 at random points of rebuilds while many readers ask: 0 corrupt, 0 empty, 0 mixed, and the next build completes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psutil

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildJob, job_to_json
from rag.protocols import Embedder
from rag.types import Repository
from soak.conftest import Soak, enough
from tests.index.fixtures import commit_files, data_directory, make_repository
from tests.index.test_build_process import wait_for_none
from tests.index.test_kills import FILES, Reader, edition

COMPLETE_EVERY = 20  # kills between two builds that are let run to their end
BUILD_SECONDS = 300.0
GROWTH = 150_000_000  # bytes that the process of all readers may grow by, whatever the number of generations that it opened


def test_readers_never_see_half_an_index(tmp_path: Path, models_directory: Path, embedder: Embedder, soak: Soak) -> None:
    chance, clock = soak.chance(), soak.clock()
    source = make_repository(tmp_path / "source", edition(0))
    editions = count(1)
    job = BuildJob(Repository("larder", str(source)), data_directory(tmp_path / "data", models_directory), threads=1)
    build(job, lambda event: None)
    index = RepositoryIndex(repository_directory(job.data_dir, "larder"), EdgeBackend(), describe(EmbeddingSettings()))
    killed = completed = 0
    with _reading(index, embedder, soak.readers) as readers:
        usual = _complete(job, index, source, next(editions))
        memory = [psutil.Process().memory_info().rss]
        while killed < soak.kills and not clock.over:
            commit_files(source, edition(next(editions)))
            process = _start(job)
            time.sleep(usual * (killed % COMPLETE_EVERY + chance.random()) / COMPLETE_EVERY)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)  # the builder alone: what it started must notice by itself
                code = _end(process)
                assert code in (0, -signal.SIGKILL)  # 0: it ended just before the signal came
                killed += code != 0
                if code and killed % COMPLETE_EVERY == 0:
                    usual = _complete(job, index, source, next(editions))
                    completed += 1
            else:
                assert _end(process) == 0  # quicker than usual
                usual *= 0.9
        _complete(job, index, source, next(editions))
        time.sleep(0.5)
        memory.append(psutil.Process().memory_info().rss)
        _stop(readers)
        faults = [fault for reader in readers for fault in reader.faults]
        answers = sum(reader.answers for reader in readers)
    index.close()
    complete = f"{killed:,} kills, {completed + 1:,} complete builds between and after them"
    soak.done.append(f"builder: {complete}, {answers:,} answers to {soak.readers} readers, {len(faults)} faults")
    soak.done.append(f"builder: the readers' process took {memory[0] / 1e6:.0f} MB at first and {memory[1] / 1e6:.0f} MB in the end")
    assert faults == []
    assert memory[1] < memory[0] + GROWTH
    assert all(reader.answers > 10 for reader in readers)
    names = [path.name for path in index.layout.generations.iterdir()]
    assert len(names) == 2
    assert not any("partial" in name or "trash" in name for name in names)
    enough("kills", killed, soak.kills, soak)


def _complete(job: BuildJob, index: RepositoryIndex, source: Path, number: int) -> float:
    """A build that nobody kills ends whole. The seconds it took, process and all."""
    commit = commit_files(source, edition(number))
    started = time.monotonic()
    assert _end(_start(job)) == 0
    taken = time.monotonic() - started
    with index.open() as generation:
        assert generation.info.commit == commit
        assert generation.info.documents == FILES
        assert all(f"edition{number}" in chunk.text for chunk in generation.chunks.all())
    return taken


def _start(job: BuildJob) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "rag.index.build_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({"job": job_to_json(job), "nice": 0, "secrets": []}).encode() + b"\n")
    process.stdin.flush()
    return process


def _end(process: subprocess.Popen[bytes]) -> int:
    """Its exit code, once nothing that it started is left."""
    assert process.stdin is not None
    try:
        code = process.wait(timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    process.stdin.close()
    wait_for_none(process.pid, 60.0)
    return code


@contextmanager
def _reading(index: RepositoryIndex, embedder: Embedder, number: int) -> Iterator[list[Reader]]:
    readers = [Reader(index, embedder) for _ in range(number)]
    for reader in readers:
        reader.start()
    try:
        yield readers
    finally:
        _stop(readers)


def _stop(readers: list[Reader]) -> None:
    for reader in readers:
        reader.stop.set()
    for reader in readers:
        reader.join(timeout=30)
