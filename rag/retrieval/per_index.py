"""What is found once for an index, and let go with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from rag.index.chunk_table import ChunkTable

T = TypeVar("T")


def once_per_index(find: Callable[[ChunkTable], T]) -> Callable[[ChunkTable], T]:
    """`find`, whose results are kept as long as the chunks are. Threads that ask for the first time at once may each find it."""
    known: WeakKeyDictionary[ChunkTable, T] = WeakKeyDictionary()
    lock = threading.Lock()

    @wraps(find)
    def found(chunks: ChunkTable) -> T:
        with lock:
            kept = known.get(chunks)
        if kept is None:
            kept = find(chunks)
            with lock:
                known[chunks] = kept
        return kept

    return found
