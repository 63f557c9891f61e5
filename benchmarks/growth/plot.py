"""Figures over the number of chunks as an SVG, both axes logarithmic, with nothing but the standard library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 520, 330  # of a panel
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 130, 36, 40
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
Points = Sequence[tuple[float, float]]


def plot(panels: Mapping[str, Mapping[str, Points]], columns: int = 2) -> str:
    """title -> line's name -> (chunks, value) -> SVG. A name that ends in "p99" is drawn dashed, in the colour of the line before it.
    Values of 0 or less are left out."""
    rows = math.ceil(len(panels) / columns)
    size = f"{columns * WIDTH} {rows * HEIGHT}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" font-size="12" fill="#24292f">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, (title, lines) in enumerate(panels.items()):
        x, y = number % columns * WIDTH, number // columns * HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *_panel(title, lines), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, lines: Mapping[str, Points]) -> list[str]:
    drawn = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in lines.items()}
    xs = [x for points in drawn.values() for x, _ in points]
    ys = [y for points in drawn.values() for _, y in points]
    parts = [f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>']
    if not xs:
        return parts
    across = _Axis(min(xs), max(xs), _LEFT, WIDTH - _RIGHT)
    up = _Axis(min(ys), max(ys), HEIGHT - _BOTTOM, _TOP)
    for value in across.decades():
        at = across.at(value)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}" stroke="#d8dee4"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(value)}</text>')
    for value in up.decades():
        at = up.at(value)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#d8dee4"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    colour = -1
    lowest = -math.inf  # where the last name was written: names keep their distance
    ends = []
    for name, points in drawn.items():
        dashed = name.endswith("p99")
        colour += not dashed or colour < 0
        stroke = COLOURS[colour % len(COLOURS)]
        path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="2.5" fill="{stroke}"/>' for x, y in points]
        if points:
            ends.append((up.at(points[-1][1]), name, stroke))
    for at, name, stroke in sorted(ends):
        lowest = max(at + 4, lowest + 13)
        parts.append(f'<text x="{WIDTH - _RIGHT + 8}" y="{lowest:.1f}" fill="{stroke}">{escape(name)}</text>')
    return parts


class _Axis:
    """Values onto pixels, by their logarithm, from whole decade to whole decade or a little less."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._high = math.log10(low) - 0.08, math.log10(high) + 0.08
        if self._high - self._low < 1:
            self._low, self._high = math.floor(self._low), math.ceil(self._high)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        return self._start + (math.log10(value) - self._low) / (self._high - self._low) * (self._end - self._start)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(math.ceil(self._low), math.floor(self._high) + 1)]


def _short(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
