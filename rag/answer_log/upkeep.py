"""Builds and job runs, and what is deleted when its time is over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlite_utils

from rag.answer_log.records import BuildRecord, JobRun, Purged
from rag.answer_log.times import moment, stamp

_BUILD_COLUMNS = (
    "repository, cause, started_at, finished_at, ok, commit_sha, branch, generation, documents, chunks, embedded, reused, unchanged,"
    " skipped, fallbacks, seconds, peak_memory_bytes, error_kind, error"
)


def record_build(db: sqlite_utils.Database, build: BuildRecord) -> None:
    row = (
        build.repository,
        build.cause,
        stamp(build.started_at),
        stamp(build.finished_at),
        int(build.ok),
        build.commit,
        build.branch,
        build.generation,
        build.documents,
        build.chunks,
        build.embedded,
        build.reused,
        int(build.unchanged),
        _json(build.skipped),
        _json(build.fallbacks),
        _json(build.seconds),
        build.peak_memory_bytes,
        build.error_kind,
        build.error,
    )
    places = ", ".join("?" * len(row))
    db.conn.execute(f"INSERT INTO builds ({_BUILD_COLUMNS}) VALUES ({places})", row)  # noqa: S608 - constants


def last_build(db: sqlite_utils.Database, repository: str, good: bool) -> BuildRecord | None:
    rows = list(db.query("SELECT * FROM builds WHERE repository = ? AND ok >= ? ORDER BY id DESC LIMIT 1", [repository, int(good)]))
    return _build(rows[0]) if rows else None


def record_run(db: sqlite_utils.Database, run: JobRun) -> None:
    db.conn.execute(
        "INSERT INTO runs (job, started_at, finished_at, ok, reason, detail) VALUES (?, ?, ?, ?, ?, ?)",
        (run.job, stamp(run.started_at), stamp(run.finished_at), int(run.ok), run.reason, _json(run.detail)),
    )


def last_runs(db: sqlite_utils.Database) -> dict[str, JobRun]:
    rows = db.query("SELECT * FROM runs WHERE id IN (SELECT max(id) FROM runs GROUP BY job) ORDER BY job")
    return {
        row["job"]: JobRun(
            row["job"], moment(row["started_at"]), moment(row["finished_at"]), bool(row["ok"]), row["reason"], json.loads(row["detail"])
        )
        for row in rows
    }


def purge(db: sqlite_utils.Database, before: datetime) -> Purged:
    """Deletes what was asked, built and run before a moment. The latest good build of each repository and the latest run of each job stay:
    they say how old an index is, not what anyone asked."""
    limit = [stamp(before)]
    answers = db.conn.execute("DELETE FROM answers WHERE asked_at < ?", limit).rowcount
    builds = db.conn.execute(
        "DELETE FROM builds WHERE finished_at < ? AND id NOT IN (SELECT max(id) FROM builds WHERE ok = 1 GROUP BY repository)", limit
    ).rowcount
    runs = db.conn.execute("DELETE FROM runs WHERE finished_at < ? AND id NOT IN (SELECT max(id) FROM runs GROUP BY job)", limit).rowcount
    return Purged(answers, _drop_orphans(db), builds, runs)


def forget(db: sqlite_utils.Database, person: str) -> Purged:
    """Deletes all that one person asked and voted."""
    db.conn.execute("DELETE FROM votes WHERE voter = ?", [person])
    answers = db.conn.execute("DELETE FROM answers WHERE asker = ?", [person]).rowcount
    return Purged(answers, _drop_orphans(db), 0, 0)


def _drop_orphans(db: sqlite_utils.Database) -> int:
    return int(db.conn.execute("DELETE FROM chunks WHERE id NOT IN (SELECT chunk_id FROM results)").rowcount)


def _build(row: dict[str, Any]) -> BuildRecord:
    return BuildRecord(
        repository=row["repository"],
        cause=row["cause"],
        started_at=moment(row["started_at"]),
        finished_at=moment(row["finished_at"]),
        ok=bool(row["ok"]),
        commit=row["commit_sha"],
        branch=row["branch"],
        generation=row["generation"],
        documents=row["documents"],
        chunks=row["chunks"],
        embedded=row["embedded"],
        reused=row["reused"],
        unchanged=bool(row["unchanged"]),
        skipped=json.loads(row["skipped"]),
        fallbacks=json.loads(row["fallbacks"]),
        seconds=json.loads(row["seconds"]),
        peak_memory_bytes=row["peak_memory_bytes"],
        error_kind=row["error_kind"],
        error=row["error"],
    )


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
