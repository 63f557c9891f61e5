"""What every benchmark needs: running sides in turn, medians, ratios, progress.

Sides run one after the other in every round, each round beginning with another side, so that whatever else the machine does meanwhile
falls on all of them. The ratio is taken within each round and then its median, for the same reason.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.material import Material
from rag.embedding.models import EmbeddingSettings, load_embedder

Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Side:
    """`value`: the median over the rounds. `ratio`: how many times better than the base of the measure, median, lowest and highest of
    the rounds; None for the base itself, and for a figure that stands alone."""

    name: str
    value: float
    ratio: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing measured, for each side. `base`: the side that the others are compared with, "" where they stand alone. `better`: whether
    a low or a high value is good. `rounds`: how often each was measured."""

    what: str
    unit: str
    sides: tuple[Side, ...]
    better: Literal["less", "more"]
    rounds: int
    base: str = ""


@dataclass
class Bench:
    """What a benchmark is given. `scale`: of all sizes, 1 by default. `directory`: temporary, gone when the run ends."""

    directory: Path
    material: Material
    rounds: int = 3
    scale: float = 1.0
    quiet: bool = False
    _name: str = field(default="", init=False)

    def begin(self, name: str) -> None:
        """Whose progress is told from now on."""
        self._name = name

    def end(self) -> None:
        """Takes the line of progress off a terminal."""
        if not self.quiet and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")

    def sized(self, count: int, *, least: int = 8) -> int:
        return max(least, round(count * self.scale))

    @property
    def models(self) -> Path:
        """Where exported models are kept, for all benchmarks of a run."""
        return self.directory / "models"

    def lend_models(self, data: Path) -> None:
        """Makes `data`, a data directory with the default model's export in it: that is made once a machine, and is not measured."""
        self.progress("the model, exported if no benchmark has yet, which takes a while")
        load_embedder(EmbeddingSettings(), self.models)
        data.mkdir(parents=True)
        shutil.copytree(self.models, data / "models", copy_function=os.link)

    def progress(self, message: str) -> None:
        """A line on standard error; on a terminal the same line again and again."""
        if self.quiet:
            return
        line = f"{self._name}: {message}"
        sys.stderr.write(f"\r\x1b[2K{line[:150]}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()

    def in_turn(self, what: str, sides: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
        """What each side returned, by round."""
        samples: dict[str, list[float]] = {name: [] for name in sides}
        names = list(sides)
        for number in range(self.rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                self.progress(f"{what}: round {number + 1} of {self.rounds}, {name}")
                samples[name].append(sides[name]())
        return samples


def compared(what: str, unit: str, samples: Samples, base: str, better: Literal["less", "more"] = "less") -> Measure:
    """All sides against the one that is named `base`; a ratio above 1 is better than it."""
    sides = []
    for name, values in samples.items():
        if name == base:
            sides.append(Side(name, statistics.median(values)))
            continue
        pairs = zip(values, samples[base], strict=True)
        ratios = [other / own if better == "less" else own / other for own, other in pairs]
        sides.append(Side(name, statistics.median(values), (statistics.median(ratios), min(ratios), max(ratios))))
    return Measure(what, unit, tuple(sides), better, len(samples[base]), base)


def alone(what: str, unit: str, samples: Samples, better: Literal["less", "more"] = "less") -> Measure:
    """Figures that have nothing beside them."""
    sides = tuple(Side(name, statistics.median(values)) for name, values in samples.items())
    return Measure(what, unit, sides, better, max(len(values) for values in samples.values()))


def median_ms(work: Callable[[int], object], count: int) -> float:
    """The median milliseconds of `work(0)` … `work(count - 1)`, once each, after one call that is not counted."""
    return statistics.median(times_ms(work, count))


def times_ms(work: Callable[[int], object], count: int) -> list[float]:
    """The milliseconds of each, in their order, after one call that is not counted."""
    work(0)
    taken = []
    for number in range(count):
        started = time.perf_counter()
        work(number)
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def end(process: subprocess.Popen[bytes], patience: float = 60.0) -> None:
    """Asks a process to end, and ends it where it has not after so many seconds; closes what was read of it."""
    process.terminate()
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def seconds(work: Callable[[], object]) -> float:
    """How long it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
