"""Which repository a channel asks about: what people set with `/repo use`, else what the configuration says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import sqlite_utils

from rag.answer_log.times import stamp
from rag.database import Database, Migration

_TABLE = """
CREATE TABLE channel_repository ( -- the repository that a channel asks about, set by /repo use
  team TEXT NOT NULL, -- workspace
  channel TEXT NOT NULL, -- channel or direct message
  repository TEXT NOT NULL, -- name of the repository
  set_by TEXT NOT NULL, -- id of the person
  set_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (team, channel)
) STRICT"""


def _create(db: sqlite_utils.Database) -> None:
    db.conn.execute(_TABLE)


MIGRATIONS: tuple[Migration, ...] = (Migration("channels", 1, _create),)


class Channels:
    """Bindings. They choose among what a channel may hear about; they grant nothing. Methods may raise DatabaseError."""

    def __init__(self, database: Database, clock: Callable[[], datetime], defaults: Mapping[str, str]) -> None:
        """`defaults`: channel id -> repository name, from the configuration."""
        self._database = database
        self._clock = clock
        self._defaults = dict(defaults)

    async def repository(self, team: str, channel: str) -> str:
        """The name, or "" where nothing is set."""

        def read(db: sqlite_utils.Database) -> str:
            row = db.conn.execute("SELECT repository FROM channel_repository WHERE team = ? AND channel = ?", (team, channel)).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read) or self._defaults.get(channel, "")

    async def bind(self, team: str, channel: str, repository: str, user: str) -> None:
        now = stamp(self._clock())

        def write(db: sqlite_utils.Database) -> None:
            db.conn.execute("INSERT OR REPLACE INTO channel_repository VALUES (?, ?, ?, ?, ?)", (team, channel, repository, user, now))

        await self._database.write(write)
