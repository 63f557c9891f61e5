"""How long after `footnote index` a repository answers: from the command's start, with an empty data directory, to the first answer.

The mirror's clone is in it, and so is what starting the two commands takes. No export of the model is lent: the part of an index that
answers by words must not wait for it. Beside it, the least that anybody can do: `git clone` and `git grep` of the question's words.
"""

from __future__ import annotations

import json
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.frame import Bench, Measure, alone, compared, end, seconds
from benchmarks.material import QUESTIONS, git, make_repository
from benchmarks.serving import environment
from rag.index.manifest import read_manifest

FILES = 3_000
LONGEST = 10_000  # characters of a file
TARGET = 10  # seconds, on a repository of FILES
ASKED, READY, BASE = "footnote index, then footnote search", "footnote index, until it can be asked", "git clone, git grep"
_READY = "It can be asked now"
_PATIENCE = 900.0  # seconds


@dataclass
class Trial:
    """One repository. `chunks`: of its index, once a round has run."""

    name: str
    source: Path
    home: Path
    chunks: int = 0

    def asked(self, ready: list[float]) -> float:
        """Seconds until a search has answered; until it could be asked goes to `ready`."""
        data = self.home / "data"
        data.mkdir(parents=True)
        started = time.perf_counter()
        indexing = subprocess.Popen(
            [sys.executable, "-m", "bot", "index", str(self.source), "--name", "sample"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment(data),
            cwd=data,
        )
        try:
            _wait_for(indexing, _READY)
            ready.append(time.perf_counter() - started)
            words = ["search", QUESTIONS[0], "--repo", "sample", "--json"]
            found = subprocess.run(
                [sys.executable, "-m", "bot", *words],
                capture_output=True,
                timeout=_PATIENCE,
                check=True,
                env=environment(data),
                cwd=data,
            )
            took = time.perf_counter() - started
            if not json.loads(found.stdout):
                raise RuntimeError("the search found nothing")
            manifest = next((data / "repositories").glob("*/generations/*/sparse/manifest.json"))
            self.chunks = read_manifest(manifest).chunks
            return took
        finally:
            end(indexing)
            shutil.rmtree(data, ignore_errors=True)  # the builder, which ends with its parent, may still have been writing

    def cloned(self) -> float:
        home = self.home / "clone.git"
        words = [option for word in QUESTIONS[0].split() for option in ("-e", word)]

        def work() -> None:
            git(self.home, "clone", "--quiet", "--bare", "--no-local", str(self.source), str(home))
            git(home, "grep", "--count", "--ignore-case", *words, "HEAD")

        try:
            return seconds(work)
        finally:
            shutil.rmtree(home)


def run(bench: Bench) -> list[Measure]:
    measures = []
    for name, source in _sources(bench):
        home = bench.directory / "first-answer" / name
        home.mkdir(parents=True)
        measures += measure(bench, Trial(name, source, home))
    return measures


def measure(bench: Bench, trial: Trial) -> list[Measure]:
    ready: list[float] = []
    sides: dict[str, Callable[[], float]] = {ASKED: partial(trial.asked, ready), BASE: trial.cloned}
    samples = bench.in_turn(trial.name, sides)
    files = len(git(trial.source, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    title = f"{trial.name}, {files:,} files, {trial.chunks:,} chunks"
    return [
        compared(f"{title}: the first answer (target: {TARGET} s at {FILES:,} files)", "s", samples, BASE),
        alone(f"{title}: of it", "s", {READY: ready}),
    ]


def _sources(bench: Bench) -> Sequence[tuple[str, Path]]:
    if bench.material.clones:
        return [(clone.name.removesuffix(".git"), clone.resolve()) for clone in bench.material.clones]
    short = (document for document in bench.material.documents() if len(document.text) <= LONGEST)
    files = {document.path: document.text for document in islice(short, bench.sized(FILES))}
    return [("synthesised", make_repository(bench.directory / "first-answer-source", files))]


def _wait_for(process: subprocess.Popen[bytes], words: str) -> None:
    """Until it has said so on standard error."""
    assert process.stderr is not None
    said, deadline = "", time.monotonic() + _PATIENCE
    while words not in said:
        if not select.select([process.stderr], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise RuntimeError("footnote index did not come so far")
        piece = process.stderr.read(65_536)
        if not piece:
            raise RuntimeError(f"footnote index ended early: {said.strip()[-500:]}")
        said += piece.decode("utf-8", "replace")
