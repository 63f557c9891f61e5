"""Searches through a running `footnote serve`: at rest, and while it builds the index of another repository, every chunk of it embedded.

The build is asked for over the control socket, as `footnote index` does beside a running bot. Questions are asked one after the other,
with a pause between two, and no two are the same, so that each is embedded.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks.frame import Bench, Measure, alone, compared
from benchmarks.material import QUESTIONS, make_repository, small_files
from benchmarks.serving import Served, configure, serving

ASKED = "asked"
REBUILT = "rebuilt"
REST = "at rest"
DURING = "during a rebuild"
LONGEST = 10_000  # characters of a file
LEAST = 200  # questions at rest, and before a build may be called measured
PAUSE = 0.02  # seconds
_TIMEOUT = 1200.0  # seconds for one build


def run(bench: Bench) -> list[Measure]:
    home = bench.directory / "rebuild"
    bench.lend_models(home)
    files = small_files(bench.sized(1_600, least=60), LONGEST)
    names = sorted(files)
    share = len(names) * 3 // 4  # the rest is rebuilt
    sources = {
        ASKED: make_repository(home / "sources" / ASKED, {name: files[name] for name in names[:share]}),
        REBUILT: make_repository(home / "sources" / REBUILT, {name: files[name] for name in names[share:]}),
    }
    configure(home, sources)
    return asyncio.run(_measure(bench, home))


async def _measure(bench: Bench, home: Path) -> list[Measure]:
    taken: dict[str, list[list[float]]] = {REST: [], DURING: []}
    chunks = {}
    questions = _questions()
    async with serving(home) as served:
        for name in (ASKED, REBUILT):  # a bot that starts without an index builds it
            bench.progress(f"waiting for the index of {name}")
            chunks[name] = await _indexed(served, name)
        for number in range(bench.rounds):
            bench.progress(f"round {number + 1} of {bench.rounds}, at rest")
            taken[REST].append([await _search(served, questions) for _ in range(LEAST)])
            bench.progress(f"round {number + 1} of {bench.rounds}, while {chunks[REBUILT]:,} chunks are embedded")
            taken[DURING].append(await _during(served, home, questions))
    few = min(map(len, taken[DURING]))
    title = f"search over {chunks[ASKED]:,} chunks, {chunks[REBUILT]:,} others rebuilt, {few:,} questions or more"
    measures = []
    ratios = {}
    for percent in (50, 95):
        samples = {side: [1000 * float(np.percentile(times, percent)) for times in rounds] for side, rounds in taken.items()}
        measures.append(compared(f"{title}: p{percent}", "ms", samples, REST))
        ratios[f"p{percent}"] = [busy / idle for busy, idle in zip(samples[DURING], samples[REST], strict=True)]
    return [*measures, alone(f"{title}: during ÷ at rest (target for p95: at most 2)", "times", ratios)]


async def _search(served: Served, questions: Iterator[str]) -> float:
    """Seconds that one search takes."""
    question = next(questions)
    started = time.perf_counter()
    found = await served.ask("search", question=question, repository=ASKED)
    taken = time.perf_counter() - started
    if not found["results"]:
        raise RuntimeError(f"nothing was found for {question!r}")
    await asyncio.sleep(PAUSE)
    return taken


async def _during(served: Served, home: Path, questions: Iterator[str]) -> list[float]:
    """Seconds of the searches while the index is built, with a cache that holds nothing."""
    await asyncio.to_thread(_forget, home)
    async with asyncio.timeout(_TIMEOUT):
        building = asyncio.create_task(served.ask("index", source=REBUILT, force=True))
        taken = []
        while not building.done():
            taken.append(await _search(served, questions))
        report = await building
    if report["embedded"] < report["chunks"] / 2:
        raise RuntimeError(f"only {report['embedded']} of {report['chunks']} chunks were embedded: this was no rebuild")
    return taken


def _forget(home: Path) -> None:
    """Removes the cache of embeddings. Only a builder opens it, and none runs."""
    for file in home.glob("embeddings.sqlite*"):
        file.unlink()


async def _indexed(served: Served, name: str) -> int:
    """The chunks of an index, once its dense part stands too."""
    async with asyncio.timeout(_TIMEOUT):
        while True:
            status = await served.ask("status")
            [row] = [row for row in status["repositories"] if row["name"] == name]
            if row["index"] and row["index"]["dense_ready"] and not status["building"]:
                return int(row["index"]["chunks"])
            await asyncio.sleep(0.2)


def _questions() -> Iterator[str]:
    return (f"{QUESTIONS[number % len(QUESTIONS)]} {number}" for number in count())
