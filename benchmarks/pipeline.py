"""The index of a repository of about 5,000 chunks by us and by the obvious pipeline, each in a process of its own: time and peak memory.

One round: it is long. The obvious side embeds and inserts an even sample of its chunks; the seconds of these two steps are scaled to all of
them, those of reading, splitting and loading are not, and its memory is taken as it was, which favours it. Ours does all of its work.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from benchmarks.frame import Bench, Measure, alone, compared
from benchmarks.material import git, make_repository, small_files
from benchmarks.obvious import BATCH, CHARACTERS, OVERLAP, collection
from rag.embedding.model_files import find_model
from rag.embedding.models import EmbeddingSettings
from rag.errors import FootnoteError
from rag.index.build_process import run_build
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.types import Repository

CHUNKS = 5_000
LONGEST = 10_000  # characters of a file
SAMPLE = 400  # of the obvious side's chunks: so many are embedded
OURS = "footnote"
_EVERY = 0.1  # seconds between two looks at memory
_TIMEOUT = 3600.0  # seconds


class Cost:
    """What all processes cost that this one starts while the context lasts, and those below them. `bytes`: their resident memory, the
    highest sum. `seconds`: on the wall. `processor`: seconds that they had of all processors, which a busy machine changes little."""

    def __init__(self) -> None:
        self.bytes = 0
        self.seconds = 0.0
        self.processor = 0.0
        self._known = {child.pid for child in psutil.Process().children(recursive=True)}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="cost", daemon=True)

    def __enter__(self) -> Cost:
        self._thread.start()
        self._started = (time.perf_counter(), _processor_seconds())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.seconds, self.processor = time.perf_counter() - self._started[0], _processor_seconds() - self._started[1]
        self._done.set()
        self._thread.join(timeout=5.0)

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._done.wait(_EVERY):
            total = 0
            for child in own.children(recursive=True):
                try:
                    total += 0 if child.pid in self._known else child.memory_info().rss
                except psutil.Error:  # it ended meanwhile
                    continue
            self.bytes = max(self.bytes, total)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(bench: Bench) -> list[Measure]:
    measures = []
    for name, source in _sources(bench):
        measures += _measure(bench, name, source)
    return measures


def _measure(bench: Bench, name: str, source: Path) -> list[Measure]:
    home = bench.directory / "pipeline" / name
    bench.lend_models(home / "data")
    theirs = f"{CHARACTERS}/{OVERLAP}, sentence-transformers, {collection()}"
    bench.progress(f"{name}: {theirs}")
    with Cost() as obvious_cost:
        obvious = _obvious(source, home / "collection")
    with Cost() as own_cost:
        own = _own(bench, name, source, home / "data")
    embedded, cut = int(obvious["embedded"]), int(obvious["chunks"])
    title = f"{name}, {own.documents:,} files: {own.chunks:,} chunks of ours, {cut:,} of theirs"
    note = f" ({embedded:,} were embedded in batches of {BATCH}, their seconds scaled to all)" if embedded < cut else ""
    factor = cut / max(1, embedded)
    rates = {OURS: own.embedded / max(own.seconds.get("embed", 0.0), 1e-3), theirs: embedded / max(obvious["seconds"]["embed"], 1e-3)}

    def both(what: str, unit: str, ours: float, obviously: float) -> Measure:
        return compared(f"{title}{note}: {what}", unit, {OURS: [ours], theirs: [obviously]}, theirs)

    return [
        both("from start to end of the process", "s", own_cost.seconds, scaled(obvious_cost.seconds, obvious["seconds"], factor)),
        both("seconds of all processors", "CPU s", own_cost.processor, scaled(obvious_cost.processor, obvious["processor"], factor)),
        both("peak memory, all processes", "MB", own_cost.bytes / 1e6, obvious_cost.bytes / 1e6),
        alone(f"{title}: embedding alone", "chunks/s", {side: [rate] for side, rate in rates.items()}, better="more"),
    ]


def scaled(whole: float, seconds: Mapping[str, float], factor: float) -> float:
    """Seconds of a process as if it had embedded and inserted `factor` times as many chunks."""
    return whole + (factor - 1) * (seconds["embed"] + seconds["insert"])


def _obvious(source: Path, home: Path) -> dict[str, Any]:
    home.mkdir(parents=True)
    task = {"source": str(source), "home": str(home), "model": str(find_model(EmbeddingSettings().model, download=False).directory)}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.obvious"],
        input=json.dumps({**task, "sample": SAMPLE}),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])},
    )
    if done.returncode:
        raise FootnoteError(f"The obvious pipeline failed: {done.stderr.strip()[-500:]}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def _own(bench: Bench, name: str, source: Path, data: Path) -> BuildReport:
    def tell(event: BuildEvent) -> None:
        if event.stage == "embed" and event.total:
            bench.progress(f"{name}: ours, embedding {event.done:,} of {event.total:,}")

    return asyncio.run(run_build(BuildJob(Repository(name, str(source)), data, source_git_dir=str(source)), tell, nice=0))


def _sources(bench: Bench) -> list[tuple[str, Path]]:
    """A work tree each: the obvious side reads files, ours their commit."""
    home = bench.directory / "pipeline-source"
    if not bench.material.clones:
        return [("synthesised", make_repository(home, small_files(bench.sized(CHUNKS, least=100), LONGEST)))]
    home.mkdir()
    trees = []
    for clone in bench.material.clones:
        name = clone.name.removesuffix(".git")
        git(home, "clone", "--quiet", "--no-hardlinks", str(clone.resolve()), str(home / name))
        trees.append((name, home / name))
    return trees
