"""The targets as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.retrieval.rows import NAMES, SHOWN, Result


def render(results: Sequence[Result]) -> str:
    width = max(len(one.name) for one in results)
    stages = "".join(f"{NAMES[stage]:>9}" for stage in SHOWN)
    lines = [f"{'what':<{width}}{stages}   95 % interval  half a  half b      tried   target  met  asked  repositories"]
    for one in results:
        by_stage = {cell.stage: cell.value for cell in one.cells}
        figures = "".join(f"{_figure(by_stage.get(stage), one.unit):>9}" for stage in SHOWN)
        interval = f"{one.interval[0]:.3f}–{one.interval[1]:.3f}" if one.interval else "–"
        halves = "".join(f"{_figure(value, one.unit):>8}" for value in one.halves)
        target = "–" if one.target is None else f"{'≤' if one.at_most else '≥'} {one.target:g}{f' {one.unit}' if one.unit else ''}"
        met = {True: "yes", False: "NO", None: "–"}[one.met]
        asked = f"{one.questions:>7}{one.repositories:>14}"
        lines.append(f"{one.name:<{width}}{figures}{interval:>16}{halves} {one.tried:>10} {target:>8} {met:>4}{asked}")
    notes = [f"  {one.name}: {one.note}" for one in results if one.note]
    return "\n".join([*lines, *([""] if notes else []), *dict.fromkeys(notes)]) + "\n"


def as_json(results: Sequence[Result]) -> list[dict[str, object]]:
    return [asdict(one) | {"met": one.met} for one in results]


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if unit else f"{value:.4f}"
