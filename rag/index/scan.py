"""A question compared with every vector of a generation, for those whose store would compare every vector as well (`ScanningStore`): there
it is asked nothing, for a ranking needs the similarities of thousands of rows beside the nearest, and memory would be read twice.

What is found is exact. Of many vectors a quarter of the bytes is read first (rag.index.rough): only what may be among the nearest, as far
as these tell, is compared by all of its bytes.
"""

from __future__ import annotations

import logging
import threading
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rag.index.best import Rows, reached
from rag.index.cosines import Cosines, cosines_at, cosines_of, nearest, products, sample_of
from rag.index.dense_points import checked_query
from rag.index.rough import Bound, Rough, rough_bytes
from rag.protocols import Vector

logger = logging.getLogger(__name__)

_LEAST = 8_192  # vectors of which a quarter of the bytes is worth reading first
_TRIED_AGAIN = 100  # questions after which there may be room
_MOST_KEPT = 0.1  # share of all rows that may be among the nearest, past which all are compared


class Room:
    """Bytes that rough vectors may take in this process. Threads may share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._taken: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    def take(self, owner: object, size: int) -> bool:
        """Whether there is so much; it is free again when the owner is gone."""
        with self._lock:
            fits = sum(self._taken.values()) + size <= self._most
            if fits:
                self._taken[owner] = size
            return fits


ROOM = Room(128 << 20)  # five of the largest indexes that are scanned


class Scan:
    """The vectors of one generation: (n, d) unit rows. Threads may share it.

    Rough ones are made when a second question is asked, in a thread of their own: a quarter of the vectors' bytes, in memory. Where there
    is no `room` for them, every vector is compared, and it is tried again later.
    """

    def __init__(self, vectors: Vector, room: Room = ROOM, least: int = _LEAST) -> None:
        """`least`: vectors from which on rough ones are worth it."""
        self._vectors = np.asarray(vectors)  # as a map, every slice of it is one
        self._room = room
        self._lock = threading.Lock()
        self._asked = 0
        self._rough: Rough | None = None
        self._sample = self._vectors[:0]
        self._prepared = len(vectors) < least

    def prepare(self) -> None:
        """Makes the rough vectors now, a tenth of a second for 10,000 vectors."""
        with self._lock:
            if self._prepared or not self._room.take(self, kept_bytes(self._vectors.shape)):
                return
            self._prepared = True
        try:
            self._sample = self._vectors[sample_of(len(self._vectors))]  # together, for each question asks for them
            self._rough = Rough(self._vectors)
        except Exception:  # onnxruntime raises bare exceptions of its own making; nothing is lost but time
            logger.warning("rough vectors cannot be made; every question is compared with whole ones", exc_info=True)

    def nearest(self, question: Vector, limit: int, rows: NDArray[np.bool_] | None = None) -> tuple[list[tuple[int, float]], Cosines]:
        """Up to `limit` (row, cosine similarity), best first, ties by row, and what is known of the others by then. `rows`: (n,) those that
        may be found, None for all. Raises: RetrievalError."""
        checked_query(question, self._vectors.shape[1])
        self._count()
        rough = self._rough
        if rough is None or limit <= 0:
            return self._compared(question, limit, rows)
        about, bound = rough.products(question)
        near = _near(about, bound, limit, rows)
        if len(near) > _MOST_KEPT * len(self._vectors):
            return self._compared(question, limit, rows)
        exact = cosines_at(near, question, self._vectors)
        known = Cosines(question, self._vectors, about, bound.of)
        known.learn(near, exact)
        known.learn(sample_of(len(self._vectors)), products(self._sample, question))
        order = np.lexsort((near, -exact))[:limit]
        return list(zip(near[order].tolist(), exact[order].tolist(), strict=True)), known

    def _compared(self, question: Vector, limit: int, rows: NDArray[np.bool_] | None) -> tuple[list[tuple[int, float]], Cosines]:
        cosines = cosines_of(question, self._vectors)
        return nearest(cosines, limit, rows), Cosines(question, self._vectors, cosines)

    def _count(self) -> None:
        with self._lock:
            self._asked += 1
            begins = self._asked % _TRIED_AGAIN == 2 and not self._prepared
        if begins:
            threading.Thread(target=self.prepare, name="rough").start()


def kept_bytes(shape: tuple[int, ...]) -> int:
    """How much memory the rough ones of (n, d) vectors take, and the sample."""
    return rough_bytes(shape) + 4 * shape[1] * len(sample_of(shape[0]))


def _near(products: Vector, bound: Bound, limit: int, rows: NDArray[np.bool_] | None) -> Rows:
    """The rows that may be among the nearest, ascending. `bound`: by how much each of the products may be off."""
    found = products if rows is None else np.where(rows, products, np.float32(-np.inf))
    least = reached(found, limit)
    if least == -np.inf:
        return np.arange(len(products)) if rows is None else rows.nonzero()[0]
    near = (found >= least - 2 * bound.most).nonzero()[0]
    # So much the last of the best `limit` has at least; what may not have it is none of them.
    errors, about = bound.of(near), found[near]
    last = np.partition(about - errors, len(near) - limit)[len(near) - limit]
    kept: Rows = near[about + errors >= last]
    return kept
