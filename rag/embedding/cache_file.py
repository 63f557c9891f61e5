"""Vectors that were computed once, kept in an SQLite file of their own that may be deleted at any time.

The key of a vector is everything that decides it: the exact text that the model reads (document prompt included), the weights and the
back end. Vectors are kept as the float32 that they are, so that a cached vector and a fresh one are the same to the last bit. Commits,
branches and repositories share them; what was not used for longest goes first.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from rag.protocols import Vector
from rag.types import EmbeddingSpec

log = logging.getLogger(__name__)

BUSY_TIMEOUT = 30.0  # seconds to wait for another process's write
TOUCHED = 3600  # seconds within which a second use is not written down
QUERY_KEYS = 500  # SQLite's oldest limit on variables is 999
KEPT_SHARE = 0.9  # of the limit, after an eviction: one eviction serves many writes


class EmbeddingCache:
    """Several threads and several processes may use one file. A damaged one is put aside and begun anew: all of it can be recomputed.

    `max_bytes`: what the file may take, in bytes. Raises: sqlite3.Error, OSError.
    """

    def __init__(self, path: Path, max_bytes: int = 2 << 30, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = _open(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, unreadable, no room: the file itself may be whole
                raise
            _put_aside(path)
            self._db = _open(path)

    def get_many(self, spec: EmbeddingSpec, texts: Sequence[str]) -> dict[int, Vector]:
        """Index in `texts` -> (d,) float32, for those that are known. Raises: sqlite3.Error."""
        keys = [_key(spec, text) for text in texts]
        places: dict[bytes, list[int]] = {}
        for index, key in enumerate(keys):
            places.setdefault(key, []).append(index)
        now = int(self._clock())
        found: dict[int, Vector] = {}
        stale: list[bytes] = []
        with self._lock:
            wanted = list(places)
            for start in range(0, len(wanted), QUERY_KEYS):
                some = wanted[start : start + QUERY_KEYS]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, vector, used FROM vectors WHERE key IN ({marks})"  # noqa: S608  # marks only
                for key, vector, used in self._db.execute(query, some):
                    if len(vector) != 4 * spec.dimension:
                        continue
                    row = np.frombuffer(vector, dtype="<f4").astype(np.float32)
                    found.update((index, row) for index in places[key])
                    if now - used > TOUCHED:
                        stale.append(key)
            if stale:
                self._write("UPDATE vectors SET used = ? WHERE key = ?", ((now, key) for key in stale))
        return found

    def put_many(self, spec: EmbeddingSpec, texts: Sequence[str], vectors: Vector) -> None:
        """Keeps row i for texts[i], then evicts if the file has grown past its limit. Raises: sqlite3.Error."""
        now = int(self._clock())
        rows = [(_key(spec, text), vector.astype("<f4").tobytes(), now) for text, vector in zip(texts, vectors, strict=True)]
        with self._lock:
            self._write("INSERT OR REPLACE INTO vectors (key, vector, used) VALUES (?, ?, ?)", rows)
        self.evict()

    def evict(self) -> int:
        """Drops what was not used for longest until the file fits. Returns how many vectors went. Raises: sqlite3.Error."""
        with self._lock:
            if self._size() <= self._max_bytes or self._shrink() <= self._max_bytes:
                return 0
            (held,) = self._db.execute("SELECT count(*) FROM vectors").fetchone()
            surplus = min(held, int(held * (1 - KEPT_SHARE * self._max_bytes / self._size())) + 1)
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                oldest = "SELECT rowid FROM vectors ORDER BY used, rowid LIMIT ?"
                cursor = self._db.execute(f"DELETE FROM vectors WHERE rowid IN ({oldest})", (surplus,))  # noqa: S608  # a constant
            self._shrink()
            return cursor.rowcount

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _size(self) -> int:
        """Bytes of the file, its log apart."""
        page, pages = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count"))
        return int(page * pages)

    def _shrink(self) -> int:
        """Gives free pages back to the disk. Returns the size that is left."""
        self._db.executescript("PRAGMA incremental_vacuum")  # execute() would free one page
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self._size()

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(statement, rows)


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False, isolation_level=None)
    try:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file only, so first
        _use_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last vectors, never the file
        db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL)")
        db.execute("CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used)")
        db.execute("SELECT key, vector, used FROM vectors LIMIT 1").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _use_wal(db: sqlite3.Connection) -> None:
    """The change of mode does not wait for another process by itself, unlike every other statement."""
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _put_aside(path: Path) -> None:
    log.warning("The embedding cache %s is damaged; it is begun anew.", path)
    path.replace(path.with_name(f"{path.name}.damaged"))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _key(spec: EmbeddingSpec, text: str) -> bytes:
    digest = blake2b(f"{spec.weights_hash}\0{spec.backend}\0{spec.reads}\0".encode(), digest_size=20)
    digest.update((spec.document_prompt + text).encode("utf-8", "surrogatepass"))
    return digest.digest()
