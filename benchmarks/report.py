"""The figures as a table for people and as JSON for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.frame import Measure, Side

COMPARED = ("chromadb", "onnxruntime", "qdrant-client", "qdrant-edge-py", "rank-bm25", "sentence-transformers", "torch")


def machine() -> dict[str, Any]:
    """What the seconds depend on. `load`: processes that wanted to run in the last minute, this one included."""
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    versions = {}
    for name in COMPARED:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cores": cores, "load": load, "python": platform.python_version(), "system": platform.platform(), "packages": versions}


def busy(loads: Sequence[float | None], cores: int) -> str:
    """A warning where others wanted more of the machine than it has, "" where not. The first load is from before the run, the rest hold the
    run itself, which keeps every core busy."""
    highest = max((load - (cores if number else 0) for number, load in enumerate(loads) if load is not None), default=0.0)
    if highest <= cores / 2:
        return ""
    return (
        "This machine was busy with other things. Ratios lean towards the side that uses fewer threads; run again when it is idle before"
        " quoting any."
    )


def as_lines(name: str, measures: Sequence[Measure]) -> Iterator[str]:
    """A table: a line a side, the base of a ratio said so."""
    yield f"\n{name}"
    for measure in measures:
        yield f"  {measure.what}"
        width = max(len(side.name) for side in measure.sides)
        for side in measure.sides:
            yield f"    {side.name:<{width}}  {_number(side.value):>9} {measure.unit:<9} {_ratio(measure, side)}".rstrip()


def as_json(results: Mapping[str, Sequence[Measure]], seconds: Mapping[str, float], before: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "machine": {**before, "load_at_end": machine()["load"]},
        "benchmarks": {
            name: {"seconds": round(seconds[name], 1), "measures": [asdict(measure) for measure in measures]}
            for name, measures in results.items()
        },
    }


def _ratio(measure: Measure, side: Side) -> str:
    if side.ratio is None:
        return "1" if side.name == measure.base else ""
    middle, low, high = (_number(value) for value in side.ratio)
    word = "less" if measure.unit in ("MB", "CPU s") else "as fast"
    spread = f" ({low} to {high})" if measure.rounds > 1 else ""
    return f"{middle} times {word}{spread}"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
