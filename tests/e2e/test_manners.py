"""How much of the machine a build takes: all from the command line, next to nothing beside answers. Read off the real child."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from bot.configuration import load_settings
from bot.data_directory import DataDirectory
from bot.engine import run
from bot.part_settings import usable_cores
from bot.settings import Settings
from bot.wiring.parts import answering, open_parts
from tests.index.fixtures import data_directory, make_repository

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
FILES = {
    f"larder/shelf_{number}.py": "".join(
        f"def put_{number}_{n}(jar, shelf, label):\n"
        + "".join(f"    shelf[{n} + {line}] = (jar, label, {line} * {number})\n" for line in range(9))
        for n in range(6)
    )
    for number in range(14)
}


@dataclass
class Seen:
    """The builder and what is below it. `stage`: of the build, told by the test. `nice`: that its processes had, by what they are.
    `threads`: of the builder, with the first and the last seconds of the processor that each had while it embedded."""

    stage: str = ""
    nice: dict[str, set[int]] = field(default_factory=dict)
    autogroup: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    workers: set[int] = field(default_factory=set)
    threads: dict[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def busy(self) -> int:
        """Threads that embedded: another only looks at memory now and then."""
        used = [last - first for first, last in self.threads.values()]
        return sum(one > max(used) / 3 for one in used)


@contextmanager
def watching() -> Iterator[Seen]:
    """Looks at this process's builder until the context is left, from a thread: the loop is not to be held up."""
    seen = Seen()
    done = threading.Event()
    own = psutil.Process()

    def watch() -> None:
        while not done.wait(0.005):
            for child in own.children():
                try:
                    if "rag.index.build_process" in child.cmdline():
                        _look(child, seen)
                except (psutil.Error, OSError):  # it ended meanwhile
                    continue

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join(10)


def _look(builder: psutil.Process, seen: Seen) -> None:
    if builder.nice() == 0:  # it has not got its job yet
        return
    seen.environment = builder.environ()
    seen.nice.setdefault("builder", set()).add(builder.nice())
    group = Path(f"/proc/{builder.pid}/autogroup")
    seen.autogroup = group.read_text().split("nice")[-1].strip() if group.exists() else ""
    for thread in builder.threads() if seen.stage == "embed" else ():
        first, _ = seen.threads.get(thread.id, (thread.user_time, 0.0))
        seen.threads[thread.id] = (first, thread.user_time)
    for child in builder.children(recursive=True):
        parses = "rag.chunking.worker" in child.cmdline()
        if parses:
            seen.workers.add(child.pid)
        seen.nice.setdefault("worker" if parses else child.name(), set()).add(child.nice())


async def index(settings: Settings, source: Path) -> Seen:
    """As `footnote index` does it: in this process, or in the one that owns the data directory."""
    report: dict[str, Any] = {}
    with watching() as seen:
        async for message in run(settings, "index", {"source": str(source)}):
            seen.stage = message["event"]["stage"] if "event" in message else ""
            report = message
    assert report["embedded"] == report["chunks"] > 50
    return seen


def settings_on(place: Path, models: Path, **variables: str) -> Settings:
    data_directory(place / "data", models)
    return load_settings(None, {"FOOTNOTE_DATA_DIR": str(place / "data"), **variables}, place)


@asynccontextmanager
async def answered(settings: Settings) -> AsyncIterator[None]:
    """What `footnote serve` holds while it answers."""
    directory = DataDirectory(settings.data_dir).acquire()
    try:
        async with open_parts(settings, directory, "test") as parts, answering(parts):
            yield
    finally:
        directory.release()


async def test_beside_answers_a_build_is_one_thread_that_gives_way(tmp_path: Path, models_directory: Path) -> None:
    source = make_repository(tmp_path / "larder", FILES)
    settings = settings_on(tmp_path, models_directory)
    async with answered(settings):
        seen = await index(settings, source)
    assert seen.nice["builder"] == seen.nice["worker"] == {19}
    assert set().union(*seen.nice.values()) == {19}, seen.nice  # git's too
    assert seen.autogroup in ("9", "")
    assert len(seen.workers) == 1
    assert {seen.environment[name] for name in LIBRARIES} == {"1"}
    assert seen.busy == 1


async def test_from_the_command_line_a_build_takes_every_core(tmp_path: Path, models_directory: Path) -> None:
    source = make_repository(tmp_path / "larder", FILES)
    seen = await index(settings_on(tmp_path, models_directory), source)
    assert max(seen.nice["builder"]) < 19
    assert len(seen.workers) == min(usable_cores(), 8)
    assert all(seen.environment.get(name) == os.environ.get(name) for name in LIBRARIES)
    assert seen.busy >= min(usable_cores(), 2)


async def test_threads_that_are_configured_count_beside_answers_too(tmp_path: Path, models_directory: Path) -> None:
    source = make_repository(tmp_path / "larder", FILES)
    settings = settings_on(tmp_path, models_directory, FOOTNOTE_BUILD_THREADS="2")
    async with answered(settings):
        seen = await index(settings, source)
    assert seen.nice["builder"] == {19}
    assert {seen.environment[name] for name in LIBRARIES} == {"2"}
