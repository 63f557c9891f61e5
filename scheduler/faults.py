"""Which faults of builds people have been told of: one alert when a fault begins, one when it is over, none for each night between."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import sqlite_utils

from rag.answer_log import BuildRecord
from rag.answer_log.times import moment, stamp
from rag.database import Database, Migration

SHARED = frozenset({"DiskFull", "ModelError", "UnknownModel", "ModelMismatch"})
"""Kinds of error that are of the machine and not of a repository: one alert for all repositories that fail with it."""
REMINDER = timedelta(days=7)
"""A fault that lasts is told again after this long; so one whose repository is gone silences nothing for ever."""

_TABLE = """
CREATE TABLE faults ( -- builds that fail, and since when people know
  repository TEXT NOT NULL, -- name
  fault TEXT NOT NULL, -- kind of the error, for a failed build with its words but without its numbers
  told_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (repository, fault)
) STRICT"""


def _create(db: sqlite_utils.Database) -> None:
    db.conn.execute(_TABLE)


MIGRATIONS: tuple[Migration, ...] = (Migration("faults", 1, _create),)


class Faults:
    """Remembered across restarts. Methods may raise DatabaseError."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def is_news(self, record: BuildRecord) -> bool:
        """Whether people should be told of this failure. A fault that all repositories share, and people know of, is noted for this one."""
        fault = _fault_of(record)
        now = self._clock()

        def look(db: sqlite_utils.Database) -> bool:
            shared = fault in SHARED
            query = "SELECT max(told_at) FROM faults WHERE fault = ? AND (repository = ? OR ?)"
            (told,) = db.conn.execute(query, [fault, record.repository, shared]).fetchone()
            # From the future: told under a wrong clock.
            if told is None or not timedelta(0) <= now - moment(told) < REMINDER:
                return True
            if shared:
                db.conn.execute("INSERT OR REPLACE INTO faults VALUES (?, ?, ?)", (record.repository, fault, told))
            return False

        return await self._database.write(look)

    async def told(self, record: BuildRecord) -> None:
        """Notes that people know now."""
        row = (record.repository, _fault_of(record), stamp(self._clock()))
        await self._database.write(lambda db: db.conn.execute("INSERT OR REPLACE INTO faults VALUES (?, ?, ?)", row) and None)

    async def ended(self, repository: str) -> list[str]:
        """Notes that the repository builds again. The kinds of error that are over, for people who were told of them; one that other
        repositories still share is not over."""

        def end(db: sqlite_utils.Database) -> list[str]:
            query = "SELECT fault FROM faults WHERE repository = ? ORDER BY told_at, fault"
            had = [str(fault) for (fault,) in db.conn.execute(query, [repository])]
            db.conn.execute("DELETE FROM faults WHERE repository = ?", [repository])
            left = {str(fault) for (fault,) in db.conn.execute("SELECT fault FROM faults")} & SHARED
            return list(dict.fromkeys(fault.partition(":")[0] for fault in had if fault not in left))

        return await self._database.write(end)


def _fault_of(record: BuildRecord) -> str:
    """A kind of error is one fault, whatever its words, which network and git vary; but builds fail for quite different reasons."""
    if record.error_kind != "BuildFailed":
        return record.error_kind
    return f"{record.error_kind}: " + re.sub(r"\b[0-9a-f]{7,}\b|\d[\d.,]*", "#", record.error)[:300]
