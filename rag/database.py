"""The SQLite file: one writer thread, readers of their own, and numbered migrations that each table's module registers.

Durability: WAL with `synchronous=FULL`, so what `write` has returned from survives the death of the process and of the machine's power,
as far as the disk keeps its promises. Every write is one `BEGIN IMMEDIATE` transaction: the lock is taken before the first read, since
SQLite refuses at once to turn a reading transaction into a writing one when someone else has written meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import sqlite_utils

from rag.errors import DatabaseError

T = TypeVar("T")
logger = logging.getLogger(__name__)

APPLICATION_ID = 0x464F4F54  # "FOOT" in the file's header: whose file it is
_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations ( -- which changes of the schema this file has seen
  name TEXT NOT NULL, -- the module that owns the tables
  number INTEGER NOT NULL, -- 1, 2, 3 …, in the order applied
  applied_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (name, number)
) STRICT"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered change of the schema.

    `name`: the module that owns the tables; its migrations count 1, 2, 3 …. `apply` runs inside a transaction together with the record
    that it ran, and must not commit. A published migration is never edited: a change is a new number.
    """

    name: str
    number: int
    apply: Callable[[sqlite_utils.Database], None]


class Database:
    """Async door to the file. Use as an async context manager, or `start` and `close`.

    `write` and `read` are handed a plain function of a `sqlite_utils.Database`; it runs in a thread, so it must return values, not
    cursors or generators. Both raise DatabaseError for whatever SQLite reports; any other exception of the function passes unchanged.
    `timeout`: seconds one call may take, waiting for its turn included; past it the work is interrupted and rolled back.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration], *, timeout: float = 30.0, readers: int = 4) -> None:
        self._path = path
        self._migrations = _in_order(migrations)
        self._timeout = timeout
        self._readers = readers
        self._writer_thread: ThreadPoolExecutor | None = None
        self._reader_threads: ThreadPoolExecutor | None = None
        self._writer: sqlite_utils.Database | None = None
        self._local = threading.local()
        self._opened: list[sqlite_utils.Database] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def start(self) -> None:
        """Opens the file, making it and its directory where missing, and applies what migrations it lacks.

        Raises: DatabaseError, also for a file of another program and for one that a newer version has written.
        """
        self._writer_thread = ThreadPoolExecutor(1, "database-writer")
        self._reader_threads = ThreadPoolExecutor(self._readers, "database-reader")
        try:
            self._writer = await self._run(self._writer_thread, self._open_and_migrate)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finishes what was handed over, then closes every connection. Does nothing where it is closed."""
        writer_thread, reader_threads = self._writer_thread, self._reader_threads
        self._writer_thread = self._reader_threads = None
        if reader_threads is not None:
            await asyncio.to_thread(reader_threads.shutdown)
        if writer_thread is not None:
            await asyncio.to_thread(writer_thread.shutdown)
        for db in (*self._opened, self._writer):
            if db is not None:
                await asyncio.to_thread(db.conn.close)
        self._opened.clear()
        self._writer = None
        self._local = threading.local()

    async def write(self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` in one transaction on the writer thread. When this returns, what it wrote is on the disk; if it raises, nothing is.

        Writes happen one after another in the order they were handed over. A caller that is cancelled does not learn whether its
        write happened: it did or did not as a whole.
        """
        deadline = time.monotonic() + self._timeout

        def transaction() -> T:
            db = self._writer
            assert db is not None  # noqa: S101 - set by start, before any write is accepted
            with self._guard(db, deadline), _transaction(db):
                return work(db)

        return await self._run(self._writer_thread, transaction)

    async def read(self, work: Callable[[sqlite_utils.Database], T]) -> T:
        """Runs `work` on a read-only connection, in one transaction: all its queries see the same state. Never waits for the writer."""
        deadline = time.monotonic() + self._timeout

        def query() -> T:
            db = self._reader()
            with self._guard(db, deadline):
                db.conn.execute("BEGIN")
                try:
                    return work(db)
                finally:
                    db.conn.rollback()

        return await self._run(self._reader_threads, query)

    async def checkpoint(self) -> None:
        """Moves the write-ahead log into the file and empties it, so that what was deleted is in neither."""
        deadline = time.monotonic() + self._timeout

        def truncate() -> None:
            db = self._writer
            assert db is not None  # noqa: S101 - see write
            with self._guard(db, deadline):
                busy = db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy:
                logger.warning("the write-ahead log could not be emptied, a reader holds it; it will be at the next checkpoint")

        await self._run(self._writer_thread, truncate)

    async def _run(self, threads: ThreadPoolExecutor | None, work: Callable[[], T]) -> T:
        if threads is None:
            raise DatabaseError(f"The database {self._path} is closed.", "It is open between start and close.")
        future = threads.submit(work)
        # The guard ends the work itself at its deadline; this second, later limit is for a disk that never answers.
        wrapped = asyncio.wrap_future(future)
        wrapped.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # a cancelled caller leaves no unread error behind
        done, _ = await asyncio.wait({wrapped}, timeout=self._timeout + 10.0)
        if not done:
            wrapped.cancel()
            raise DatabaseError(f"The disk under {self._path} does not answer.", "Check the disk; the last write may or may not be on it.")
        return wrapped.result()

    @contextmanager
    def _guard(self, db: sqlite_utils.Database, deadline: float) -> Iterator[None]:
        """Ends the work at the deadline and turns SQLite's errors into ours."""
        if time.monotonic() > deadline:
            raise DatabaseError(
                f"The database {self._path} is too busy: the call waited {self._timeout:g} s.", "Try again; find what writes so much."
            )
        db.conn.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(self._path, error) from error
        finally:
            db.conn.set_progress_handler(None, 0)

    def _reader(self) -> sqlite_utils.Database:
        db: sqlite_utils.Database | None = getattr(self._local, "db", None)
        if db is None:
            try:
                db = _connect(self._path, read_only=True)
            except sqlite3.Error as error:
                raise _explained(self._path, error) from error
            self._local.db = db
            self._opened.append(db)
        return db

    def _open_and_migrate(self) -> sqlite_utils.Database:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Questions are nobody else's business; the -wal and -shm files take this file's mode.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise DatabaseError(f"{self._path} cannot be opened: {error.strerror}.", "Check the directory and its permissions.") from error
        db = None
        try:
            db = _connect(self._path, read_only=False)
            _claim(db, self._path)
            _migrate(db, self._path, self._migrations)
        except BaseException as error:
            if db is not None:
                db.conn.close()
            if isinstance(error, sqlite3.Error):
                raise _explained(self._path, error) from error
            raise
        return db


def _connect(path: Path, *, read_only: bool) -> sqlite_utils.Database:
    mode = "ro" if read_only else "rw"
    # isolation_level=None: transactions begin and end where this module says so, never by Python's guess.
    conn = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=10.0, isolation_level=None, check_same_thread=False)
    db = sqlite_utils.Database(conn, execute_plugins=False)
    conn.execute("PRAGMA foreign_keys = ON")
    if read_only:
        conn.execute("PRAGMA query_only = ON")
    return db


def _claim(db: sqlite_utils.Database, path: Path) -> None:
    """Marks a new file as Footnote's and sets how it is written. Raises: DatabaseError, having changed nothing, for another's file."""
    with _transaction(db):
        owner = db.conn.execute("PRAGMA application_id").fetchone()[0]
        if owner != APPLICATION_ID and db.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise DatabaseError(f"{path} is the database of another program.", "Choose another data directory.")
        db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.conn.execute(_MIGRATIONS_TABLE)
    db.conn.execute("PRAGMA secure_delete = ON")  # what is purged is overwritten, not merely unlinked
    db.conn.execute("PRAGMA journal_mode = WAL")
    db.conn.execute("PRAGMA synchronous = FULL")


@contextmanager
def _transaction(db: sqlite_utils.Database) -> Iterator[None]:
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.conn.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        raise


def _in_order(migrations: Sequence[Migration]) -> tuple[Migration, ...]:
    """The migrations as given, modules in order of appearance. Raises: ValueError where a module's numbers are not 1, 2, 3 …."""
    by_name: dict[str, list[Migration]] = defaultdict(list)
    for migration in migrations:
        by_name[migration.name].append(migration)
    for name, own in by_name.items():
        if [migration.number for migration in own] != list(range(1, len(own) + 1)):
            raise ValueError(f"the migrations of {name} must be numbered 1, 2, 3 … in order")
    return tuple(migration for own in by_name.values() for migration in own)


def _migrate(db: sqlite_utils.Database, path: Path, migrations: Sequence[Migration]) -> None:
    known = {(migration.name, migration.number) for migration in migrations}
    unknown = sorted(_applied(db) - known)
    if unknown:
        name, number = unknown[-1]
        raise DatabaseError(
            f"{path} was written by a newer version of Footnote: it has migration {number} of {name}, which this version does not know.",
            "Install the newer version, or restore an older copy of the file.",
        )
    for migration in migrations:
        with _transaction(db):
            # Asked again inside: another process may have applied it since.
            if (migration.name, migration.number) in _applied(db):
                continue
            migration.apply(db)
            if not db.conn.in_transaction:
                raise DatabaseError(
                    f"Migration {migration.number} of {migration.name} ended its transaction.", "This is a fault of Footnote: report it."
                )
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            db.conn.execute("INSERT INTO migrations (name, number, applied_at) VALUES (?, ?, ?)", (migration.name, migration.number, now))
        logger.info("migration applied: %s %d", migration.name, migration.number)


def _applied(db: sqlite_utils.Database) -> set[tuple[str, int]]:
    return {(name, number) for name, number in db.conn.execute("SELECT name, number FROM migrations")}


def _explained(path: Path, error: sqlite3.Error) -> DatabaseError:
    """Names the file, what SQLite said and what helps. SQLite's own words hold names of tables and columns, never values."""
    said = str(error)
    remedies = {
        "full": "Free some room on its disk.",
        "locked": "Another process is writing to it; only one may own the data directory.",
        "readonly": "Check the permissions of the file and of its directory.",
        "unable to open": "Check the permissions of the file and of its directory.",
        "not a database": "It is damaged or another program's file: restore a copy.",
        "malformed": "It is damaged: restore a copy.",
        "interrupted": "The call took too long and was undone.",
    }
    remedy = next(
        (remedy for words, remedy in remedies.items() if words in said), "This is a fault of Footnote or of the disk: see the log."
    )
    return DatabaseError(f"{path}: {said}.", remedy)
