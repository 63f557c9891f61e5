"""Which files were changed by commits that say what the question says."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rag.index.best import first_of
from rag.index.chunk_table import ChunkTable
from rag.index.generation import Generation
from rag.index.messages import Messages
from rag.retrieval.matching import Floats

_NEAREST = 50  # commits
_POWER = 2  # of a commit's score against the best: what half resembles the question says a quarter


class CommitsOfFiles:
    """`touched`: of each commit's files the numbers in the chunk table, -1 for those without a chunk."""

    def __init__(self, messages: Messages, chunks: ChunkTable) -> None:
        self.messages = messages
        numbers = {path: number for number, path in enumerate(chunks.paths)}
        place = np.array([numbers.get(path, -1) for path in messages.paths], dtype=np.int64)
        self._words = messages.weighed()
        self._touched: NDArray[np.int64] = place[messages.touched] if len(place) else np.zeros(0, dtype=np.int64)
        times = np.bincount(self._touched[self._touched >= 0], minlength=len(chunks.paths))
        self._often = np.sqrt(np.maximum(times, 1))

    def changed(self, stems: Sequence[str]) -> Floats:
        """(f,) of each file how much commits changed it whose messages resemble the question, 0 to 1: a commit counts less the more files
        it touched, and a file that everything changes less than one that seldom is."""
        share = np.zeros(len(self._often))
        scores = self._words.scores(stems)
        nearest = first_of(scores, _NEAREST)
        best = float(scores[nearest[0]]) if len(nearest) else 0.0
        if best <= 0:
            return share
        starts = self.messages.touched_starts
        for commit in nearest[scores[nearest] > 0].tolist():
            files = self._touched[starts[commit] : starts[commit + 1]]
            share[files[files >= 0]] += (scores[commit] / best) ** _POWER / self.messages.spread[commit]
        share /= self._often
        most = float(share.max(initial=0.0))
        return share / most if most > 0 else share


_known: WeakKeyDictionary[ChunkTable, CommitsOfFiles] = WeakKeyDictionary()
_lock = threading.Lock()


def changed_by_commits(stems: Sequence[str], generation: Generation) -> Floats:
    """See `CommitsOfFiles.changed`; nothing where nothing is asked, or what commits say is not known."""
    chunks = generation.chunks
    messages = generation.history.messages() if stems else None
    if messages is None:
        return np.zeros(len(chunks.paths))
    with _lock:
        known = _known.get(chunks)
    if known is None or known.messages is not messages:
        known = CommitsOfFiles(messages, chunks)
        with _lock:
            _known[chunks] = known
    return known.changed(stems)
