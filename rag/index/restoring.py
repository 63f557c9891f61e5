"""A store on a server that may be away, or may have lost what was written to it. Questions never wait for its return.

While it is away, or is being filled again from the vectors that are kept here, searching it is a StoreUnavailable; whoever asks has the
sparse part of the generation, and says so. The filling happens in a thread, one at a time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rag.errors import CollectionGone, FootnoteError, StoreUnavailable
from rag.protocols import HybridStore, Vector
from rag.types import Filters

logger = logging.getLogger(__name__)
T = TypeVar("T")

Found = list[tuple[int, float]]
PAUSE = 30.0  # seconds from a failed attempt to the next


class RestoringStore:
    """A HybridStore. `open_store` opens what stands; `restore` does too, or makes it anew first. Threads may share it."""

    def __init__(
        self,
        open_store: Callable[[], HybridStore],
        restore: Callable[[], HybridStore],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._restore = restore
        self._clock = clock
        self._lock = threading.Lock()
        self._store: HybridStore | None = None
        self._working = False
        self._next_attempt = 0.0
        self._closed = False
        try:
            self._store = open_store()
        except StoreUnavailable as error:
            logger.warning("searching by words alone: %s", error.problem)
            self._next_attempt = clock() + PAUSE
        except FootnoteError as error:
            logger.warning("dense store is made anew from its vectors: %s", error.problem)
            with self._lock:
                self._begin()

    def search(self, vector: Vector, limit: int, filters: Filters | None = None) -> Found:
        """As DenseStore has it. Raises: RetrievalError, StoreUnavailable."""
        return self._ask(lambda store: store.search(vector, limit, filters))

    def search_all(
        self, vector: Vector, words: Sequence[Mapping[int, int]], limit: int, filters: Filters | None = None, *, by_words: int = 0
    ) -> tuple[list[Found], Found]:
        """As HybridStore has it. Raises: RetrievalError, StoreUnavailable."""
        return self._ask(lambda store: store.search_all(vector, words, limit, filters, by_words=by_words))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._store is not None:
                self._store.close()

    def _ask(self, question: Callable[[HybridStore], T]) -> T:
        with self._lock:
            store = self._store
            if store is None:
                self._begin()
                raise StoreUnavailable("The dense store is away, or is being made anew.", "Wait; footnote doctor says how the server is.")
        try:
            return question(store)
        except CollectionGone as error:
            logger.warning("dense store is made anew from its vectors: %s", error.problem)
            with self._lock:
                if self._store is store:
                    self._store = None
                    self._begin()
            raise

    def _begin(self) -> None:
        """With the lock held."""
        if self._working or self._closed or self._clock() < self._next_attempt:
            return
        self._working = True
        threading.Thread(target=self._work, name="restore-dense-store", daemon=True).start()

    def _work(self) -> None:
        store = None
        try:
            store = self._restore()
            logger.info("the dense store answers again")
        except FootnoteError as error:
            logger.warning("the dense store could not be made anew yet: %s", error.problem)
        except Exception:  # the directory may be gone by now, with its generation
            logger.warning("the dense store could not be made anew", exc_info=True)
        with self._lock:
            self._working = False
            self._next_attempt = self._clock() + PAUSE
            if store is None:
                return
            if self._closed:
                store.close()
            else:
                self._store = store
