"""Vectors in eight bits a number: how near each is to a question, with a bound on how far that is off."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.index.integer_product import LARGEST, LARGEST_ASKED, IntegerProduct
from rag.index.spread import spread
from rag.protocols import Vector

_TWICE = 16_384  # vectors of two products
_FINER = 2 * LARGEST_ASKED  # times the second digit of a question is finer than the first
_ROUNDING = 2.0**-23  # of float32, for each operation twice what it can be
_TINY = 1e-30  # below it float32 rounds more
_UP = 1 + 2.0**-20  # more than the rounding of what is multiplied by it, in float32


class Rough:
    """(n, d) vectors by codes, each with a scale of its own. Threads may share it."""

    def __init__(self, vectors: Vector) -> None:
        """`vectors`: (n, d) float32. Raises: ArithmeticError where they are not finite, or this machine's integer products are wrong."""
        count, self._dimension = vectors.shape
        bounds = np.linspace(0, count, 2 * -(-count // _TWICE) + 1).astype(np.int64).tolist()  # an even number: for two threads
        self._parts = [_Part(np.asarray(vectors[start:end]), slice(start, end)) for start, end in pairwise(bounds)]
        self._count = count
        self._errors: Vector = np.concatenate([part.errors for part in self._parts]) if self._parts else np.zeros(0, dtype=np.float32)
        self._error = float(self._errors.max(initial=0.0))
        self._length = max((part.length for part in self._parts), default=0.0)

    def products(self, question: Vector) -> tuple[Vector, Vector]:
        """(n,) float32, and by how much each of them may differ from the product of the vectors themselves, computed in float32 (Cauchy and
        Schwarz: no more than the lengths of what was rounded away). `question`: (d,) finite.
        """
        step = float(np.abs(question).max()) / LARGEST_ASKED or 1.0
        exact = question.astype(np.float64) / step
        first = np.rint(exact)
        second = np.rint((exact - first) * _FINER)
        digits = np.stack([first, second]).astype(np.int8)
        left = step * float(np.linalg.norm(exact - first - second / _FINER))
        asked = float(np.linalg.norm(question.astype(np.float64)))
        found = np.empty(self._count, dtype=np.float32)
        spread(lambda part: part.compare(digits, step, found[part.rows]), self._parts)
        rounded = (self._dimension + 16) * _ROUNDING * (asked + left) * (self._length + self._error)
        errors = np.float32(asked * _UP) * self._errors
        errors += np.float32((left * (self._length + self._error) + rounded) * _UP + _TINY)
        return found, errors


def rough_bytes(shape: tuple[int, ...]) -> int:
    """How much memory those of (n, d) vectors take."""
    return shape[0] * (shape[1] + 8)


class _Part:
    """`rows`: which vectors these are. `errors`: (n,) the length of what their codes leave out; `length`: the longest vector."""

    def __init__(self, vectors: Vector, rows: slice) -> None:
        self.rows = rows
        if not np.isfinite(vectors).all():
            raise ArithmeticError("vectors hold numbers that are not finite")
        steps = np.abs(vectors).max(axis=1) / np.float32(LARGEST)
        self._steps: Vector = np.where(steps > 0, steps, np.float32(1)).astype(np.float32)
        codes = np.clip(np.rint(vectors / self._steps[:, None]), -LARGEST, LARGEST).astype(np.int8)  # a tiny step may be rounded
        self.errors = (np.linalg.norm(vectors - self._steps[:, None].astype(np.float64) * codes, axis=1) * _UP).astype(np.float32)
        self.length = float(np.linalg.norm(vectors.astype(np.float64), axis=1).max())
        self._product = IntegerProduct(np.ascontiguousarray(codes.T))
        _check(self._product, codes)

    def compare(self, digits: NDArray[np.int8], step: float, out: Vector) -> None:
        first, second = self._product(digits)
        out[:] = second
        out *= np.float32(1 / _FINER)
        out += first.astype(np.float32)
        out *= self._steps
        out *= np.float32(step)


def _check(product: IntegerProduct, codes: NDArray[np.int8]) -> None:
    """What a saturating processor would get wrong: the largest numbers, with the signs of one of the vectors."""
    asked = np.where(codes[:1] < 0, -LARGEST_ASKED, LARGEST_ASKED).astype(np.int8)
    if not np.array_equal(product(asked)[0], codes @ asked[0].astype(np.int32)):
        raise ArithmeticError("products of small integers are not exact on this machine")
