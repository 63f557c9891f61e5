"""The file: transactions, migrations, refusals, time limits, and what a killed process leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlite_utils

from rag.database import Database, Migration
from rag.errors import DatabaseError


def _pause(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def _notes(db: sqlite_utils.Database) -> None:
    db["notes"].create({"id": int, "text": str}, pk="id")


NOTES = Migration("notes", 1, _notes)


async def _texts(database: Database) -> list[str]:
    return await database.read(lambda db: [row["text"] for row in db["notes"].rows])


async def test_what_is_written_is_read_and_survives_reopening(path: Path) -> None:
    async with Database(path, [NOTES]) as database:
        assert await database.write(lambda db: db["notes"].insert({"text": "one"}).last_pk) == 1
        assert await _texts(database) == ["one"]
    async with Database(path, [NOTES]) as database:
        assert await _texts(database) == ["one"]


async def test_durable_settings(path: Path) -> None:
    def settings(db: sqlite_utils.Database) -> tuple[object, ...]:
        return tuple(
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        )

    async with Database(path, [NOTES]) as database:
        assert await database.write(settings) == ("wal", 2, 1, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_an_error_in_the_work_undoes_all_of_it_and_passes_unchanged(path: Path) -> None:
    def half(db: sqlite_utils.Database) -> None:
        db["notes"].insert({"text": "lost"})
        raise KeyError("mine")

    async with Database(path, [NOTES]) as database:
        with pytest.raises(KeyError, match="mine"):
            await database.write(half)
        assert await _texts(database) == []
        await database.write(lambda db: db["notes"].insert({"text": "kept"}))
        assert await _texts(database) == ["kept"]


async def test_writes_are_transactions_one_after_another(path: Path) -> None:
    def increment(db: sqlite_utils.Database) -> int:
        value = int(db.execute("SELECT coalesce(max(id), 0) FROM notes").fetchone()[0]) + 1
        db["notes"].insert({"id": value, "text": str(value)})
        return value

    async with Database(path, [NOTES]) as database:
        values = await asyncio.gather(*(database.write(increment) for _ in range(50)))
    assert values == list(range(1, 51))


async def test_readers_see_one_state_and_do_not_wait_for_the_writer(path: Path) -> None:
    async with Database(path, [NOTES]) as database:
        await database.write(lambda db: db["notes"].insert({"text": "before"}))
        writing = asyncio.create_task(database.write(lambda db: (db["notes"].insert({"text": "after"}), _pause(2.0))))
        await asyncio.sleep(0.2)

        def twice(db: sqlite_utils.Database) -> tuple[int, int]:
            first = db["notes"].count
            time.sleep(2.5)  # the writer commits meanwhile
            return first, db["notes"].count

        assert await database.read(lambda db: db["notes"].count) == 1
        assert not writing.done()
        assert await database.read(twice) == (1, 1)
        await writing
        assert await database.read(lambda db: db["notes"].count) == 2


async def test_a_reader_cannot_write(path: Path) -> None:
    async with Database(path, [NOTES]) as database:
        with pytest.raises(DatabaseError, match="readonly"):
            await database.read(lambda db: db.conn.execute("INSERT INTO notes (text) VALUES ('x')"))


async def test_endless_work_is_interrupted_and_undone(path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    def work(db: sqlite_utils.Database) -> None:
        db["notes"].insert({"text": "undone"})
        db.execute(endless).fetchone()

    async with Database(path, [NOTES], timeout=1.0) as database:
        with pytest.raises(DatabaseError, match="interrupted"):
            await database.read(lambda db: db.execute(endless).fetchone())
        with pytest.raises(DatabaseError, match="interrupted"):
            await database.write(work)
        assert await _texts(database) == []


async def test_a_write_that_waited_too_long_is_not_done(path: Path) -> None:
    async with Database(path, [NOTES], timeout=1.0) as database:
        slow = asyncio.create_task(database.write(lambda db: _pause(2.0)))
        await asyncio.sleep(0.1)
        with pytest.raises(DatabaseError, match="too busy"):
            await database.write(lambda db: db["notes"].insert({"text": "late"}))
        await slow
        assert await _texts(database) == []


async def test_a_cancelled_caller_leaves_a_whole_write(path: Path) -> None:
    async with Database(path, [NOTES]) as database:
        task = asyncio.create_task(database.write(lambda db: (_pause(0.2), db["notes"].insert({"text": "whole"}))))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await database.write(lambda db: None)
        assert await _texts(database) == ["whole"]


async def test_a_closed_database_says_so(path: Path) -> None:
    database = Database(path, [NOTES])
    with pytest.raises(DatabaseError, match="closed"):
        await database.read(lambda db: None)
    await database.start()
    await database.close()
    await database.close()
    with pytest.raises(DatabaseError, match="closed"):
        await database.write(lambda db: None)


async def test_another_writer_that_holds_the_lock_is_named(path: Path) -> None:
    async with Database(path, [NOTES], timeout=30.0) as database:
        await database.write(lambda db: db.conn.execute("PRAGMA busy_timeout = 100"))
        other = sqlite3.connect(path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(DatabaseError, match="Another process"):
                await database.write(lambda db: None)
        finally:
            other.close()
        await database.write(lambda db: None)


# Migrations


async def test_migrations_run_once_in_order_and_are_recorded(path: Path) -> None:
    ran: list[str] = []

    def step(name: str, number: int) -> Migration:
        def apply(db: sqlite_utils.Database) -> None:
            ran.append(f"{name}{number}")
            db.execute(f"CREATE TABLE {name}{number} (x)")

        return Migration(name, number, apply)

    async with Database(path, [step("a", 1), step("b", 1)]):
        pass
    async with Database(path, [step("a", 1), step("a", 2), step("b", 1)]) as database:
        recorded = await database.read(lambda db: [(r["name"], r["number"]) for r in db["migrations"].rows_where(order_by="name, number")])
    assert ran == ["a1", "b1", "a2"]
    assert recorded == [("a", 1), ("a", 2), ("b", 1)]


async def test_a_migration_that_fails_leaves_nothing_and_is_tried_again(path: Path) -> None:
    def breaks(db: sqlite_utils.Database) -> None:
        db.execute("CREATE TABLE half (x)")
        db.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(DatabaseError, match="nowhere"):
        await Database(path, [NOTES, Migration("notes", 2, breaks)]).start()
    async with Database(path, [NOTES, Migration("notes", 2, lambda db: db.execute("CREATE TABLE half (x)"))]) as database:
        assert await database.read(lambda db: "half" in db.table_names())


async def test_a_migration_may_not_end_its_transaction(path: Path) -> None:
    with pytest.raises(DatabaseError, match="ended its transaction"):
        await Database(path, [Migration("notes", 1, lambda db: db.conn.execute("COMMIT"))]).start()


@pytest.mark.parametrize("newer", [Migration("notes", 2, lambda db: None), Migration("later", 1, lambda db: None)])
async def test_a_newer_file_is_refused_untouched(path: Path, newer: Migration) -> None:
    async with Database(path, [NOTES, newer]) as database:
        await database.write(lambda db: db["notes"].insert({"text": "kept"}))
    with pytest.raises(DatabaseError, match=rf"newer version.*migration {newer.number} of {newer.name}.*Install the newer version"):
        await Database(path, [NOTES]).start()
    async with Database(path, [NOTES, newer]) as database:
        assert await _texts(database) == ["kept"]


@pytest.mark.parametrize("numbers", [[2], [1, 1], [2, 1], [1, 3]])
def test_gaps_and_repeats_in_the_numbers_are_a_programming_error(path: Path, numbers: list[int]) -> None:
    with pytest.raises(ValueError, match="numbered 1, 2, 3"):
        Database(path, [Migration("notes", number, _notes) for number in numbers])


async def test_two_processes_opening_at_once_migrate_once(path: Path) -> None:
    first, second = Database(path, [NOTES]), Database(path, [NOTES])
    await asyncio.gather(first.start(), second.start())
    await first.write(lambda db: db["notes"].insert({"text": "one"}))
    assert await _texts(second) == ["one"]
    await asyncio.gather(first.close(), second.close())


# Files that are not ours


async def test_another_programs_database_is_refused_untouched(path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match="another program"):
        await Database(path, [NOTES]).start()
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_untouched(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"these are my holiday notes " * 100)
    before = path.read_bytes()
    with pytest.raises(DatabaseError, match=r"not a database.*restore"):
        await Database(path, [NOTES]).start()
    assert path.read_bytes() == before


async def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseError, match=r"file/footnote\.sqlite cannot be opened"):
        await Database(tmp_path / "file" / "footnote.sqlite", [NOTES]).start()


# Death

WRITER = """
import asyncio, sys
from pathlib import Path
from rag.database import Database, Migration

def notes(db):
    db["notes"].create({"id": int, "text": str}, pk="id")

async def main():
    async with Database(Path(sys.argv[1]), [Migration("notes", 1, notes)]) as database:
        for i in range(int(sys.argv[2]), 10**9):
            # two rows a transaction: half a one would show
            await database.write(lambda db: db["notes"].insert_all([{"id": 2 * i, "text": "a" * 3000}, {"id": 2 * i + 1, "text": "b"}]))
            print(i, flush=True)

asyncio.run(main())
"""


async def test_kill_9_loses_nothing_acknowledged_and_leaves_no_half_transaction(path: Path) -> None:
    acknowledged: list[int] = []
    for round_ in range(5):
        start = acknowledged[-1] + 2 if acknowledged else 0  # + 2: the write after the last acknowledged one may have happened
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        acknowledged += [int(process.stdout.readline()) for _ in range(3 + 5 * round_)]
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout if line.endswith("\n")]
        process.stdout.close()
        process.wait(10)
    async with Database(path, [NOTES]) as database:
        ids = await database.read(lambda db: {row["id"] for row in db["notes"].rows})
        assert await database.read(lambda db: db.execute("PRAGMA integrity_check").fetchone()[0]) == "ok"
    assert len(acknowledged) >= 5 * 3
    assert {2 * i for i in acknowledged} | {2 * i + 1 for i in acknowledged} <= ids
    assert all(i ^ 1 in ids for i in ids)
