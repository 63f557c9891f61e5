"""Any number of distinct chunks, with vectors: those of installed packages, then the same again and again with other identifiers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rag.protocols import Vector
from rag.types import Chunk

BASE = 20_000
"""Chunks that are cut from real sources; further ones vary them."""
EMBEDDED = 10_000
"""Chunks whose vectors are the model's; those of further ones lie beside them."""
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{4,}")
_RENAMED = 4  # one identifier in so many
_DISTANCE = 0.6  # of a varied vector from the real one, before it is made a unit again: their cosine is 0.86


def grown(base: Sequence[Chunk], count: int) -> Iterator[Chunk]:
    """`count` chunks: `base`, then variations of it, each lap in a folder of its own with a quarter of its identifiers renamed.

    A new name is made of an old one and a word that the sources hold, so that terms stay as unevenly spread as they are in code.
    """
    words = sorted({word for chunk in base[:2_000] for word in _IDENTIFIER.findall(chunk.text) if word.isalpha()})
    for number in range(count):
        lap, place = divmod(number, len(base))
        yield varied(base[place], lap, words) if lap else base[place]


def varied(chunk: Chunk, lap: int, words: Sequence[str]) -> Chunk:
    """The chunk in its `lap`-th variation; the same every time."""

    def rename(found: re.Match[str]) -> str:
        name = found[0]
        number = zlib.crc32(f"{lap} {name}".encode())
        return f"{name}_{words[number // _RENAMED % len(words)]}" if number % _RENAMED == 0 else name

    return replace(
        chunk,
        path=f"lap{lap}/{chunk.path}",
        text=_IDENTIFIER.sub(rename, chunk.text),
        symbol=_IDENTIFIER.sub(rename, chunk.symbol),
        defines=tuple(_IDENTIFIER.sub(rename, name) for name in chunk.defines),
    )


def vectors_beside(real: Vector, count: int) -> Iterator[Vector]:
    """(n, d) float32 unit rows, `count` in all: `real`, then laps of it, each row moved a fixed distance into a direction of its own."""
    yield real[:count]
    for start in range(len(real), count, len(real)):
        rows = real[: count - start]
        noise = np.random.default_rng(start).standard_normal(rows.shape, dtype=np.float32)
        moved = rows + _DISTANCE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        unit: Vector = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        yield unit
