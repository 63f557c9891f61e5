"""The vectors of the last questions: a question asked again, or in another repository, is embedded once. So is each part of a long
one, and what a language model said beside it."""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from rag.protocols import Embedder, Vector

SIZE = 512  # questions; 1.5 kB each with 384 dimensions


class QueryVectors:
    """Threads may share it. Two that ask for the same new question at once may both compute it."""

    def __init__(self, embedder: Embedder, size: int = SIZE) -> None:
        self._embedder = embedder
        self._size = size
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, *texts: str) -> Vector:
        """(d,) float32, unit length: the mean of the texts' vectors, each of them embedded once. Raises: what the embedder raises."""
        if len(texts) == 1:
            return self._of(texts[0])
        mean = np.mean([self._of(text) for text in texts], axis=0, dtype=np.float64)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)

    def _of(self, question: str) -> Vector:
        with self._lock:
            if question in self._known:
                self._known.move_to_end(question)
                return self._known[question]
        vector = self._embedder.embed_query(question)
        vector.flags.writeable = False  # it is shared from here on
        with self._lock:
            self._known[question] = vector
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return vector
