"""Vectors in eight bits a number: how near each is to a question, with a bound on how far that is off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.index.best import Rows
from rag.index.integer_product import LARGEST, LARGEST_ASKED, IntegerProduct
from rag.index.spread import spread
from rag.protocols import Vector

_SLICE = 16_384  # vectors that are looked at together while codes are made
_PARTS = 2  # for two threads: each waits for memory half of the time
_LEAST = 4_096  # vectors of a part
_FINER = 2 * LARGEST_ASKED  # times the second digit of a question is finer than the first
_ROUNDING = 2.0**-23  # of float32, for each operation twice what it can be
_UP = 1 + 2.0**-20  # more than the rounding of what is multiplied by it, in float32
_TINY = 1e-30  # below it float32 rounds more


@dataclass(frozen=True, slots=True)
class Bound:
    """By how much each of n products may be off: (n,) `left_out` times `length`, and `more`. `most`: no product is further off."""

    left_out: Vector
    length: float
    more: float
    most: float

    def of(self, rows: Rows) -> Vector:
        """(m,) float32, of these rows."""
        errors = self.left_out[rows] * np.float32(self.length * _UP)
        errors += np.float32(self.more * _UP + _TINY)
        return errors


class Rough:
    """(n, d) vectors by codes, each with a scale of its own. Threads may share it."""

    def __init__(self, vectors: Vector) -> None:
        """`vectors`: (n, d) float32. Raises: ArithmeticError where they are not finite, or this machine's integer products are wrong."""
        count, self._dimension = vectors.shape
        parts = min(_PARTS, max(1, count // _LEAST))
        bounds = [part * count // parts for part in range(parts + 1)]
        self._parts = [_Part(vectors, slice(start, end)) for start, end in pairwise(bounds) if start < end]
        self._count = count
        self._steps: Vector = np.concatenate([np.zeros(0, dtype=np.float32), *(part.steps for part in self._parts)])
        self._errors: Vector = np.concatenate([np.zeros(0, dtype=np.float32), *(part.errors for part in self._parts)])
        self._length = max((part.length for part in self._parts), default=0.0)
        self._worst = float(self._errors.max(initial=0.0))

    def products(self, question: Vector) -> tuple[Vector, Bound]:
        """(n,) float32, and by how much each of them may differ from the product of the vectors themselves, computed in float32 (Cauchy and
        Schwarz: no more than the lengths of what was rounded away). `question`: (d,) finite.
        """
        asked = question.astype(np.float64)
        step = float(np.abs(asked).max()) / LARGEST_ASKED or 1.0
        exact = asked / step
        first = np.rint(exact)
        exact -= first
        second = np.rint(exact * _FINER)
        exact -= second / _FINER
        left, length = step * math.sqrt(float(exact @ exact)), math.sqrt(float(asked @ asked))
        found = np.empty(self._count, dtype=np.float32)
        digits = np.stack([first, second]).astype(np.int8)
        spread(lambda part: part.compare(digits, found[part.rows]), self._parts)
        found *= self._steps
        found *= np.float32(step)
        longest = self._length + self._worst
        more = left * longest + (self._dimension + 16) * _ROUNDING * (length + left) * longest
        return found, Bound(self._errors, length, more, (length * self._worst + more) * _UP**2 + 2 * _TINY)


def rough_bytes(shape: tuple[int, ...]) -> int:
    """How much memory those of (n, d) vectors take."""
    return shape[0] * (shape[1] + 8)


class _Part:
    """`rows`: which vectors these are. `steps`: (n,) what a code's unit is; `errors`: (n,) the length of what it leaves out; `length`: the
    longest vector."""

    def __init__(self, vectors: Vector, rows: slice) -> None:
        self.rows = rows
        count, dimension = rows.stop - rows.start, vectors.shape[1]
        self.steps: Vector = np.empty(count, dtype=np.float32)
        self.errors: Vector = np.empty(count, dtype=np.float32)
        self.length = 0.0
        codes = np.empty((dimension, count), dtype=np.int8)
        for some, own in _slices(vectors, rows):
            if not np.isfinite(own).all():
                raise ArithmeticError("vectors hold numbers that are not finite")
            steps = np.abs(own).max(axis=1) / np.float32(LARGEST)
            steps = np.where(steps > 0, steps, np.float32(1)).astype(np.float32)
            coded = np.clip(np.rint(own / steps[:, None]), -LARGEST, LARGEST).astype(np.int8)  # a tiny step may be rounded
            self.steps[some] = steps
            self.errors[some] = np.linalg.norm(own - steps[:, None].astype(np.float64) * coded, axis=1) * _UP
            self.length = max(self.length, float(np.linalg.norm(own.astype(np.float64), axis=1).max()))
            codes[:, some] = coded.T
        self._product = IntegerProduct(codes)
        _check(self._product, codes)

    def compare(self, digits: NDArray[np.int8], out: Vector) -> None:
        first, second = self._product(digits)
        out[:] = second
        out *= np.float32(1 / _FINER)
        out += first.astype(np.float32)


def _slices(vectors: Vector, rows: slice) -> Iterator[tuple[slice, Vector]]:
    """Places in a part, and the vectors there."""
    for start in range(rows.start, rows.stop, _SLICE):
        end = min(start + _SLICE, rows.stop)
        yield slice(start - rows.start, end - rows.start), np.asarray(vectors[start:end])


def _check(product: IntegerProduct, codes: NDArray[np.int8]) -> None:
    """What a saturating processor would get wrong: the largest numbers, with the signs of one of the vectors. `codes`: (d, n)."""
    asked = np.where(codes[:, :1].T < 0, -LARGEST_ASKED, LARGEST_ASKED).astype(np.int8)
    if not np.array_equal(product(asked)[0], asked[0].astype(np.int32) @ codes):
        raise ArithmeticError("products of small integers are not exact on this machine")
