"""Which faults of builds people have been told of: one alert when a fault begins, one when it is over, none for each night between."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import datetime, timedelta

import sqlite_utils

from rag.answer_log import BuildRecord
from rag.answer_log.times import moment, stamp
from rag.database import Database, Migration
from rag.errors import DatabaseError

logger = logging.getLogger(__name__)

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
    """Remembered across restarts, as long as the database can be written: a full disk is a fault to tell of once, too."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._here: dict[tuple[str, str], datetime] = {}

    async def is_news(self, record: BuildRecord) -> bool:
        """Whether people should be told of this failure. A fault that all repositories share, and people know of, is noted for this one."""
        fault, now = _fault_of(record), self._clock()
        shared = fault in SHARED

        def look(db: sqlite_utils.Database) -> list[datetime]:
            query = "SELECT told_at FROM faults WHERE fault = ? AND (repository = ? OR ?)"
            return [moment(told) for (told,) in db.conn.execute(query, [fault, record.repository, shared])]

        known = [told for (name, what), told in self._here.items() if what == fault and (shared or name == record.repository)]
        try:
            known += await self._database.read(look)
        except DatabaseError:
            logger.exception("which faults people know of cannot be read")
        # From the future: told under a wrong clock.
        recent = [told for told in known if timedelta(0) <= now - told < REMINDER]
        if recent and shared:
            await self._note(record.repository, fault, max(recent))
        return not recent

    async def told(self, record: BuildRecord) -> None:
        """Notes that people know now."""
        await self._note(record.repository, _fault_of(record), self._clock())

    async def ended(self, repository: str) -> list[str]:
        """Notes that the repository builds again. The kinds of error that are over, for people who were told of them; one that other
        repositories still share is not over."""

        def end(db: sqlite_utils.Database) -> tuple[list[str], set[str]]:
            query = "SELECT fault FROM faults WHERE repository = ? ORDER BY told_at, fault"
            had = [str(fault) for (fault,) in db.conn.execute(query, [repository])]
            db.conn.execute("DELETE FROM faults WHERE repository = ?", [repository])
            return had, {str(fault) for (fault,) in db.conn.execute("SELECT fault FROM faults")}

        had: list[str] = []
        left: set[str] = set()
        try:
            had, left = await self._database.write(end)
        except DatabaseError:
            logger.exception("which faults people know of cannot be written")
        had += [fault for name, fault in self._here if name == repository]
        self._here = {key: told for key, told in self._here.items() if key[0] != repository}
        left = (left | {fault for _, fault in self._here}) & SHARED
        return list(dict.fromkeys(fault.partition(":")[0] for fault in had if fault not in left))

    async def _note(self, repository: str, fault: str, told: datetime) -> None:
        row = (repository, fault, stamp(told))

        def write(db: sqlite_utils.Database) -> None:
            db.conn.execute("INSERT OR REPLACE INTO faults VALUES (?, ?, ?)", row)

        self._here[repository, fault] = told
        try:
            await self._database.write(write)
        except DatabaseError:
            logger.exception("which faults people know of cannot be written")


def _fault_of(record: BuildRecord) -> str:
    """A kind of error is one fault, whatever its words, which network and git vary; but builds fail for quite different reasons."""
    if record.error_kind != "BuildFailed":
        return record.error_kind
    return f"{record.error_kind}: " + re.sub(r"\b[0-9a-f]{7,}\b|\d[\d.,]*", "#", record.error)[:300]
