"""How long a command takes from the shell: `footnote --help` beside a bare interpreter, `footnote search` by itself beside one that asks a
running owner of the data directory, and `footnote serve` until it is ready beside the libraries that it stands on."""

from __future__ import annotations

import asyncio
import json
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.frame import Bench, Measure, alone, compared, end
from benchmarks.material import make_repository
from benchmarks.serving import configure, environment, serving

BARE = "python -c pass"
COLD = "footnote search, by itself"
ASKED = "footnote search, owner running"
SERVE = "footnote serve, until /health says that it is well"
LIBRARIES = "import slack_bolt.async_app, aiohttp, onnxruntime, numpy"
START_SECONDS = 120.0


def run(bench: Bench) -> list[Measure]:
    home = bench.directory / "startup"
    files = {}
    for document in bench.material.documents():
        files[document.path] = document.text
        if len(files) >= bench.sized(60):
            break
    source = make_repository(home / "source", files)
    by_itself, owned = home / "by-itself", home / "owned"
    bench.lend_models(by_itself)
    bench.progress("indexing")
    _footnote(by_itself, "index", str(source), "--name", "sample")
    shutil.copytree(by_itself, owned)
    configure(by_itself, {"sample": source})
    words = ("search", "where are cookies parsed", "--repo", "sample", "--json")
    help_ = bench.in_turn(
        "help", {"footnote --help": partial(_footnote, by_itself, "--help"), BARE: partial(_seconds, ["-c", "pass"], by_itself)}
    )
    bench.progress("starting an owner")
    with _owner(owned):
        _footnote(owned, *words)  # the model is warm from here on
        searches = bench.in_turn("search", {ASKED: partial(_footnote, owned, *words), COLD: partial(_footnote, by_itself, *words)})
    used: list[float] = []

    def ready() -> float:
        seconds, processor = asyncio.run(_ready(by_itself))
        used.append(processor)
        return seconds

    _footnote(by_itself, "index", "sample")  # by the configuration, so that a start finds nothing to build
    starts = bench.in_turn("serve", {SERVE: ready, LIBRARIES: partial(_seconds, ["-c", LIBRARIES], by_itself)})
    return [
        compared("the list of commands", "s", help_, BARE),
        compared(f"a search over {len(files)} files", "s", searches, COLD),
        compared("a start", "s", starts, LIBRARIES),
        alone("processor time of a start", "CPU s", {SERVE: used}),
    ]


async def _ready(data: Path) -> tuple[float, float]:
    """Seconds on the wall and of the processor; fails where the bot cannot answer then."""
    async with serving(data) as served:
        if not (await served.ask("search", question="where are cookies parsed", repository="sample"))["results"]:
            raise RuntimeError("the bot that is ready finds nothing")
        return served.seconds, served.processor


def _footnote(data: Path, *words: str) -> float:
    return _seconds(["-m", "bot", *words], data)


def _seconds(arguments: list[str], data: Path) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600, check=False, env=environment(data), cwd=data
    )
    taken = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed: {done.stderr.strip()[-500:]}")
    if "--json" in arguments and not json.loads(done.stdout):
        raise RuntimeError("the search found nothing")
    return taken


@contextmanager
def _owner(data: Path) -> Iterator[None]:
    """A playground that owns the data directory, ended when the context is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "playground", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(data),
        cwd=data,
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
        if not ready or not re.search(rb"Open http", process.stdout.readline()):
            raise RuntimeError("the owner did not start")
        yield
    finally:
        end(process)
