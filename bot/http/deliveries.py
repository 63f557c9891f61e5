"""Which webhooks were taken: one that comes again is refused, and what a crash kept from being built is known at the next start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import sqlite_utils

from rag.answer_log.times import moment, stamp
from rag.database import Database, Migration

_TABLES = (
    """CREATE TABLE webhook_deliveries ( -- webhooks that asked for a build: one that comes again is refused
  service TEXT NOT NULL, -- github or gitlab
  delivery TEXT NOT NULL, -- the id that the service gave it
  signature TEXT NOT NULL, -- what GitHub signed it with, since it does not sign the id; '' for GitLab, which signs nothing
  received_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (service, delivery)
) STRICT""",
    "CREATE UNIQUE INDEX webhook_signatures ON webhook_deliveries (service, signature) WHERE signature <> ''",
    """CREATE TABLE webhook_pushes ( -- the newest push of each repository that a webhook told of
  repository TEXT PRIMARY KEY, -- its name
  received_at TEXT NOT NULL -- UTC
) STRICT""",
)


def _create(db: sqlite_utils.Database) -> None:
    for statement in _TABLES:
        db.conn.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (Migration("webhooks", 1, _create),)


class Deliveries:
    """Methods may raise DatabaseError."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def accept(self, service: str, delivery: str, signature: str, repositories: Sequence[str]) -> bool:
        """Remembers the delivery and which repositories it was for, on the disk when this returns. False for one that was there before."""
        now = stamp(self._clock())

        def write(db: sqlite_utils.Database) -> bool:
            row = (service, delivery, signature, now)
            if db.conn.execute("INSERT OR IGNORE INTO webhook_deliveries VALUES (?, ?, ?, ?)", row).rowcount == 0:
                return False
            db.conn.executemany("INSERT OR REPLACE INTO webhook_pushes VALUES (?, ?)", [(name, now) for name in repositories])
            return True

        return await self._database.write(write)

    async def newest(self) -> dict[str, datetime]:
        """When the newest push of each repository came."""
        rows = await self._database.read(lambda db: db.conn.execute("SELECT repository, received_at FROM webhook_pushes").fetchall())
        return {str(name): moment(received) for name, received in rows}

    async def purge(self, before: datetime) -> int:
        """Forgets deliveries older than this; returns how many."""
        old = stamp(before)
        return await self._database.write(
            lambda db: int(db.conn.execute("DELETE FROM webhook_deliveries WHERE received_at < ?", (old,)).rowcount)
        )
