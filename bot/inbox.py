"""Every question accepted once, resumed after a crash, finished exactly once.

Slack delivers at least once: retries, two events for one message, events with new ids. Bolt acknowledges an event before its
listener runs. So acceptance is a middleware: one row is on the disk before the acknowledgement leaves, and no call goes over the
network in between. The row's key is the message, not the event.

received -> answering -> posted (an answer stands in the thread) or failed (a clear message stands there instead). The message is
stored in the row before it is sent (`outbox`), in the transaction that completes the answer log, so that after a crash the same
message is sent, not another one written.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlite_utils

from bot.incoming import Incoming, QuestionKey, parse_question
from rag.answer_log.times import moment, stamp
from rag.database import Database, Migration

if TYPE_CHECKING:
    from slack_bolt.context.async_context import AsyncBoltContext
    from slack_bolt.response import BoltResponse

log = logging.getLogger(__name__)

_TABLE = """
CREATE TABLE inbox ( -- every question that Slack delivered, once, and how far it has come
  app TEXT NOT NULL, -- Slack app that it was delivered to
  team TEXT NOT NULL, -- workspace
  channel TEXT NOT NULL, -- channel or direct message
  ts TEXT NOT NULL, -- time stamp of the message: its name in the channel
  thread TEXT NOT NULL, -- time stamp of the first message of its thread
  user TEXT NOT NULL, -- who asked
  user_team TEXT NOT NULL, -- workspace that they belong to
  text TEXT NOT NULL, -- the question; emptied once it is answered
  direct INTEGER NOT NULL, -- 1: in a direct message
  shared INTEGER NOT NULL, -- 1: delivered from a channel shared with another organisation
  answer_id TEXT NOT NULL UNIQUE, -- its row in answers, where it came so far
  state TEXT NOT NULL CHECK (state IN ('received', 'answering', 'posted', 'failed')), -- failed: a clear message was posted instead
  refusal TEXT NOT NULL, -- why it was refused on arrival: user (asked too often), queue (too many waiting); '' for not
  outcome TEXT NOT NULL DEFAULT '', -- answer, or the kind of message that stands in its place
  repository TEXT NOT NULL DEFAULT '', -- which repository was chosen
  replies TEXT NOT NULL DEFAULT '[]', -- JSON list: time stamps of our messages that answer it
  outbox TEXT NOT NULL DEFAULT '', -- JSON: the message to be sent; emptied once it stands
  attempts INTEGER NOT NULL DEFAULT 0, -- how often it was begun
  received_at TEXT NOT NULL, -- UTC
  changed_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (app, team, channel, ts)
) STRICT"""

_COLUMNS = (
    "app, team, channel, ts, thread, user, user_team, text, direct, shared, answer_id, state, refusal, outcome, repository, replies,"
    " outbox, attempts, received_at"
)
_KEY = "app = ? AND team = ? AND channel = ? AND ts = ?"
_OPEN = "state IN ('received', 'answering')"


def _create(db: sqlite_utils.Database) -> None:
    db.conn.execute(_TABLE)
    db.conn.execute("CREATE INDEX inbox_by_state ON inbox(state, received_at)")
    db.conn.execute("CREATE INDEX inbox_by_thread ON inbox(team, channel, thread)")
    db.conn.execute("CREATE INDEX inbox_by_user ON inbox(user, received_at)")


MIGRATIONS: tuple[Migration, ...] = (Migration("inbox", 1, _create),)


@dataclass(frozen=True, slots=True)
class FloodLimits:
    """`per_user` questions in `window` seconds are answered, and `waiting` may be open at once; what goes beyond gets a polite refusal."""

    per_user: int = 20
    window: float = 600.0
    waiting: int = 100


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One accepted question. `replies`: ts of our messages for it, first first."""

    key: QuestionKey
    thread: str
    user: str
    user_team: str
    text: str
    direct: bool
    shared: bool
    answer_id: str
    state: str
    refusal: str
    outcome: str
    repository: str
    replies: tuple[str, ...]
    outbox: str
    attempts: int
    received_at: datetime

    @property
    def open(self) -> bool:
        return self.state in ("received", "answering")


def answer_id_for(key: QuestionKey) -> str:
    """The same for every delivery and every attempt; url-safe, sorts by the message's time (milliseconds, 11 hexadecimal digits)."""
    seconds, _, fraction = key.ts.partition(".")
    milliseconds = int(seconds or 0) * 1000 + int((fraction + "000")[:3])
    digest = hashlib.sha256("\0".join((key.app, key.team, key.channel, key.ts)).encode()).hexdigest()
    return f"{milliseconds:011x}-{digest[:12]}"


class Inbox:
    """The table, asynchronously. Every method may raise DatabaseError."""

    def __init__(self, database: Database, clock: Callable[[], datetime], limits: FloodLimits) -> None:
        self._database = database
        self._clock = clock
        self._limits = limits

    async def accept(self, question: Incoming) -> InboxRow | None:
        """The new row, on the disk; None if the message was accepted before. Whether it is refused is decided here, once."""
        now = self._clock()

        def insert(db: sqlite_utils.Database) -> InboxRow | None:
            key = question.key
            row: dict[str, object] = {
                "app": key.app,
                "team": key.team,
                "channel": key.channel,
                "ts": key.ts,
                "thread": question.thread,
                "user": question.user,
                "user_team": question.user_team,
                "text": question.text,
                "direct": int(question.direct),
                "shared": int(question.shared),
                "answer_id": answer_id_for(key),
                "state": "received",
                "refusal": self._refusal(db, question, now),
                "received_at": stamp(now),
                "changed_at": stamp(now),
            }
            inserted = db.conn.execute(
                f"INSERT INTO inbox ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) ON CONFLICT DO NOTHING",  # noqa: S608
                tuple(row.values()),
            )
            return _one(db, key) if inserted.rowcount == 1 else None

        return await self._database.write(insert)

    def _refusal(self, db: sqlite_utils.Database, question: Incoming, now: datetime) -> str:
        since = stamp(now - timedelta(seconds=self._limits.window))
        asked = db.conn.execute("SELECT count(*) FROM inbox WHERE user = ? AND received_at > ? AND refusal = ''", (question.user, since))
        if asked.fetchone()[0] >= self._limits.per_user:
            return "user"
        waiting = db.conn.execute(f"SELECT count(*) FROM inbox WHERE {_OPEN} AND refusal = ''")  # noqa: S608 - a constant
        return "queue" if waiting.fetchone()[0] >= self._limits.waiting else ""

    async def get(self, key: QuestionKey) -> InboxRow | None:
        return await self._database.read(lambda db: _one(db, key))

    async def unfinished(self) -> list[InboxRow]:
        """Accepted, and neither answered nor told why not; oldest first."""
        return await self._database.read(lambda db: _rows(db, f"{_OPEN} ORDER BY received_at", ()))

    async def begin(self, key: QuestionKey) -> InboxRow | None:
        """Marks it as being answered and counts the attempt. None if it is finished."""

        def begin(db: sqlite_utils.Database) -> InboxRow | None:
            changed = db.conn.execute(
                f"UPDATE inbox SET state = 'answering', attempts = attempts + 1, changed_at = ? WHERE {_KEY} AND {_OPEN}",  # noqa: S608
                (stamp(self._clock()), *_values(key)),
            )
            return _one(db, key) if changed.rowcount == 1 else None

        return await self._database.write(begin)

    async def choose(self, key: QuestionKey, repository: str) -> None:
        await self._database.write(lambda db: self._set(db, key, repository=repository))

    async def replied(self, key: QuestionKey, replies: Sequence[str]) -> None:
        """Remembers which messages of ours belong to it, also those that are not finished."""
        await self._database.write(lambda db: self._set(db, key, replies=json.dumps(list(replies))))

    def prepare_in(self, db: sqlite_utils.Database, key: QuestionKey, outbox: str, outcome: str) -> None:
        """Stores the message that is about to be sent. For use inside `Database.write`, beside the answer log's completion."""
        self._set(db, key, outbox=outbox, outcome=outcome)

    async def prepare(self, key: QuestionKey, outbox: str, outcome: str) -> None:
        await self._database.write(lambda db: self.prepare_in(db, key, outbox, outcome))

    async def finish(self, key: QuestionKey, *, replies: Sequence[str], outcome: str) -> None:
        """The message stands in the thread. The question's text goes: from here the answer log keeps what is kept."""
        state = "posted" if outcome == "answer" else "failed"
        await self._database.write(
            lambda db: self._set(db, key, state=state, outcome=outcome, replies=json.dumps(list(replies)), outbox="", text="")
        )

    async def thread_repository(self, key: QuestionKey, thread: str) -> str:
        """Which repository the last answered question of the thread was about, "" for none."""

        def read(db: sqlite_utils.Database) -> str:
            row = db.conn.execute(
                "SELECT repository FROM inbox WHERE app = ? AND team = ? AND channel = ? AND thread = ? AND ts <> ? AND repository <> ''"
                " ORDER BY ts DESC LIMIT 1",
                (key.app, key.team, key.channel, thread, key.ts),
            ).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def answer_at(self, team: str, channel: str, ts: str) -> str:
        """The id of the answer that our message belongs to, "" for none."""

        def read(db: sqlite_utils.Database) -> str:
            row = db.conn.execute(
                "SELECT answer_id FROM inbox, json_each(inbox.replies) WHERE team = ? AND channel = ? AND json_each.value = ?"
                " AND outcome = 'answer'",
                (team, channel, ts),
            ).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def claimed(self, key: QuestionKey, thread: str) -> set[str]:
        """Messages in the thread that belong to other questions."""

        def read(db: sqlite_utils.Database) -> set[str]:
            rows = _rows(db, "app = ? AND team = ? AND channel = ? AND thread = ? AND ts <> ?", (*_values(key)[:3], thread, key.ts))
            return {ts for row in rows for ts in row.replies}

        return await self._database.read(read)

    async def purge(self, before: datetime) -> int:
        """Forgets finished questions received before a moment; how many. A redelivery of one that old would be taken for new."""
        return await self._database.write(
            lambda db: db.conn.execute(f"DELETE FROM inbox WHERE NOT {_OPEN} AND received_at < ?", (stamp(before),)).rowcount  # noqa: S608
        )

    def _set(self, db: sqlite_utils.Database, key: QuestionKey, **values: str) -> None:
        assignments = ", ".join(f"{name} = ?" for name in values)  # names are keywords of the methods above
        db.conn.execute(
            f"UPDATE inbox SET {assignments}, changed_at = ? WHERE {_KEY}",  # noqa: S608
            (*values.values(), stamp(self._clock()), *_values(key)),
        )


Next = Callable[[], Awaitable["BoltResponse"]]


def inbox_middleware(inbox: Inbox, bot_user: str) -> Callable[..., Awaitable[BoltResponse | None]]:
    """Bolt middleware: lets a new question through to its listener with `context["question"]` set, and acknowledges everything else
    that is a message. If the row cannot be written nothing is acknowledged, and Slack delivers again."""
    from slack_bolt.response import BoltResponse  # heavy: a command that only reads this table does without

    async def accept_once(body: dict[str, Any], context: AsyncBoltContext, next: Next) -> BoltResponse | None:
        event = body.get("event")
        if not isinstance(event, dict) or event.get("type") not in ("app_mention", "message"):
            return await next()
        question = parse_question(body, bot_user)
        row = await inbox.accept(question) if question else None
        if row is None:
            return BoltResponse(status=200, body="")
        context["question"] = row.key
        return await next()

    return accept_once


def _values(key: QuestionKey) -> tuple[str, str, str, str]:
    return key.app, key.team, key.channel, key.ts


def _rows(db: sqlite_utils.Database, where: str, values: Sequence[object]) -> list[InboxRow]:
    return [_row(row) for row in db.conn.execute(f"SELECT {_COLUMNS} FROM inbox WHERE {where}", tuple(values))]  # noqa: S608


def _one(db: sqlite_utils.Database, key: QuestionKey) -> InboxRow | None:
    return next(iter(_rows(db, _KEY, _values(key))), None)


def _row(row: sqlite3.Row | tuple[Any, ...]) -> InboxRow:
    app, team, channel, ts, thread, user, user_team, text, direct, shared, answer_id, state, refusal, outcome, repository = row[:15]
    replies, outbox, attempts, received_at = row[15:]
    return InboxRow(
        key=QuestionKey(app, team, channel, ts),
        thread=thread,
        user=user,
        user_team=user_team,
        text=text,
        direct=bool(direct),
        shared=bool(shared),
        answer_id=answer_id,
        state=state,
        refusal=refusal,
        outcome=outcome,
        repository=repository,
        replies=tuple(json.loads(replies)),
        outbox=outbox,
        attempts=int(attempts),
        received_at=moment(received_at),
    )
