"""kill -9 at random points of rebuilds while readers ask: never corrupt, never empty, never mixed, and the next build completes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildJob, job_to_json
from rag.protocols import Embedder
from rag.types import Repository
from tests.index.fixtures import commit_files, data_directory, make_repository
from tests.index.test_build_process import wait_for_none

KILLS = 10
FILES = 12
EMBEDS_EVERY = 10  # answers of a reader, of which one looks whether the vectors are those of the lines


def edition(number: int) -> dict[str, str]:
    """Every chunk of an edition carries its number, so that a mixed index shows."""
    return {
        f"part_{part}.py": f'"""edition{number} of part {part}."""\n\n\ndef part_{part}(values):\n    return edition{number}(values)\n'
        for part in range(FILES)
    }


class Reader(threading.Thread):
    """Asks until told to stop; whatever is wrong with an answer it remembers."""

    def __init__(self, index: RepositoryIndex, embedder: Embedder) -> None:
        super().__init__(daemon=True)
        self.index = index
        self.embedder = embedder
        self.stop = threading.Event()
        self.answers = 0
        self.faults: list[str] = []

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self.ask()
                self.answers += 1
            except Exception as error:
                self.faults.append(f"{type(error).__name__}: {error}")
            time.sleep(0.01)

    def ask(self) -> None:
        with self.index.open() as generation:
            assert generation.dense is not None
            assert generation.vectors is not None
            assert generation.info.dense_ready
            chunks = list(generation.chunks.all())
            assert len({chunk.path for chunk in chunks}) == FILES, "part of an index"
            editions = {
                word for chunk in chunks for word in chunk.text.replace("(", " ").replace('"', " ").split() if word.startswith("edition")
            }
            assert len(editions) == 1, f"mixed: {editions}"
            row = int(np.random.default_rng().integers(len(chunks)))
            vector = np.asarray(generation.vectors[row])
            assert generation.dense.search(vector, 1)[0][1] > 0.99, "vectors of another index"
            if self.answers % EMBEDS_EVERY == 0:  # the same chunk of another edition reaches 0.99 at most
                assert float(self.embedder.embed_documents([chunks[row].encoded_text])[0] @ vector) > 0.995, "vectors of another edition"
            found = generation.sparse.search([editions.pop()], len(chunks))
            assert len(found) == len(chunks), "terms of another index"


def test_readers_never_see_half_an_index(tmp_path: Path, models_directory: Path, embedder: Embedder) -> None:
    source = make_repository(tmp_path / "source", edition(0))
    job = BuildJob(Repository("larder", str(source)), data_directory(tmp_path / "data", models_directory), threads=1)
    build(job, lambda event: None)
    commit_files(source, edition(1))
    started = time.monotonic()
    rounds = iter(range(2, 100))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "rag.index.build_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({"job": job_to_json(job), "nice": 0, "secrets": []}).encode() + b"\n")
        process.stdin.flush()
        return process

    def end(process: subprocess.Popen[bytes]) -> int:
        code = process.wait(timeout=60)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        wait_for_none(process.pid)
        return code

    assert end(start()) == 0
    usual = time.monotonic() - started
    index = RepositoryIndex(repository_directory(job.data_dir, "larder"), EdgeBackend(), describe(EmbeddingSettings()))
    readers = [Reader(index, embedder) for _ in range(2)]
    for reader in readers:
        reader.start()
    chance = random.Random(20)
    killed = 0
    while killed < KILLS:
        commit_files(source, edition(next(rounds)))
        process = start()
        time.sleep(usual * (killed + chance.random()) / KILLS)  # one in every tenth of a build
        if process.poll() is None:
            # The builder alone: what it started must notice by itself.
            os.kill(process.pid, signal.SIGKILL)
            code = end(process)
            assert code in (0, -signal.SIGKILL)  # 0: it ended just before the signal came
            killed += code != 0
        else:
            assert end(process) == 0  # quicker than usual
            usual *= 0.8

    last = next(rounds)
    commit_files(source, edition(last))
    report = build(job, lambda event: None)
    time.sleep(0.1)
    for reader in readers:
        reader.stop.set()
        reader.join(timeout=10)
    assert [fault for reader in readers for fault in reader.faults] == []
    assert all(reader.answers > 10 for reader in readers)
    assert not report.unchanged
    with index.open() as generation:
        assert generation.info.commit == report.commit
        assert all(f"edition{last}" in chunk.text for chunk in generation.chunks.all())
    names = [path.name for path in index.layout.generations.iterdir()]
    assert len(names) == 2
    assert not any("partial" in name or "trash" in name for name in names)
    index.close()
