"""What is written about a question, from its acceptance to its votes. Plain functions of the database, so that a caller can compose them
with its own tables in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlite_utils

from rag.answer_log.times import stamp
from rag.errors import DatabaseError
from rag.types import Answer, Chunk, Judgement, SearchResult


def sample_point(answer_id: str) -> float:
    """Where an answer stands between 0 (inclusive) and 1 (exclusive): evenly spread, and the same for ever."""
    return int.from_bytes(hashlib.sha256(answer_id.encode()).digest()[:6], "big") / 2**48


def start(
    db: sqlite_utils.Database,
    *,
    answer_id: str,
    question: str,
    repository: str,
    origin: str,
    asker: str,
    team: str,
    channel: str,
    thread: str,
    asked_at: datetime,
) -> None:
    """A question resumed after a crash finds its row and keeps it."""
    db.conn.execute(
        "INSERT INTO answers (id, question, repository, origin, asker, team, channel, thread, asked_at, sample_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (answer_id, question, repository, origin, asker, team, channel, thread, stamp(asked_at), sample_point(answer_id)),
    )


def complete(
    db: sqlite_utils.Database,
    answer: Answer,
    results: Sequence[SearchResult],
    *,
    candidates: Mapping[str, int],
    retrieval_seconds: Mapping[str, float],
    finished_at: datetime,
) -> None:
    """Raises: DatabaseError where the question was never started, or has its answer already."""
    row = {
        "state": "answered",
        "finished_at": stamp(finished_at),
        "text": answer.text,
        "abstained": int(answer.abstained),
        "generator": answer.generator,
        "generation": answer.index.generation,
        "commit_sha": answer.index.commit,
        "branch": answer.index.branch,
        "built_at": stamp(answer.index.built_at),
        "dense_ready": int(answer.index.dense_ready),
        "dropped_citations": answer.dropped_citations,
        "ungrounded": _json(answer.ungrounded),
        "notices": _json(answer.notices),
        "candidates": _json(candidates),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "error_kind": None,
        "reference": None,
    }
    columns = ", ".join(f"{name} = ?" for name in row)  # names are the constants above
    changed = db.conn.execute(f"UPDATE answers SET {columns} WHERE id = ? AND state <> 'answered'", (*row.values(), answer.id))  # noqa: S608
    if changed.rowcount != 1:
        raise DatabaseError(f"Answer {answer.id} is not open in the log.", "A question is started once and completed once.")
    db.conn.execute("INSERT INTO retrievals (answer_id, leads, confidence) VALUES (?, ?, ?)", (answer.id, answer.leads, answer.confidence))
    seconds = {**retrieval_seconds, **answer.seconds}
    db.conn.executemany(
        "INSERT INTO stages (answer_id, stage, seconds) VALUES (?, ?, ?)",
        [(answer.id, stage, float(took)) for stage, took in seconds.items()],
    )
    # SQLite compares a chunk of a known id no further: the id is the hash of its path, lines and text.
    db.conn.executemany(
        "INSERT INTO chunks (id, path, start_line, end_line, kind, language, symbol, scope, defines, signature, doc, module_doc, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        [_chunk_row(result.chunk) for result in results],
    )
    db.conn.executemany(
        "INSERT INTO results (answer_id, rank, chunk_id, score, scores, permalink) VALUES (?, ?, ?, ?, ?, ?)",
        [(answer.id, r.rank, r.chunk.id, float(r.score), _json({k: float(v) for k, v in r.scores.items()}), r.permalink) for r in results],
    )
    db.conn.executemany(
        "INSERT INTO citations (answer_id, number, chunk_id, path, start_line, end_line, commit_sha, permalink)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(answer.id, c.number, c.chunk_id, c.path, c.start_line, c.end_line, c.commit, c.permalink) for c in answer.citations],
    )


def fail(db: sqlite_utils.Database, answer_id: str, error_kind: str, reference: str, finished_at: datetime) -> None:
    """An answer that is complete stays so: what failed after it did not undo it."""
    db.conn.execute(
        "UPDATE answers SET state = 'failed', finished_at = ?, error_kind = ?, reference = ? WHERE id = ? AND state <> 'answered'",
        (stamp(finished_at), error_kind, reference, answer_id),
    )


def vote(db: sqlite_utils.Database, *, answer_id: str, voter: str, value: int, reason: str, voted_at: datetime) -> bool:
    """The last vote counts, by its own time: a late delivery of an earlier click changes nothing. False for an unknown answer."""
    if not db.conn.execute("SELECT 1 FROM answers WHERE id = ?", (answer_id,)).fetchone():
        return False
    db.conn.execute(
        "INSERT INTO votes (answer_id, voter, value, reason, voted_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (answer_id, voter)"
        " DO UPDATE SET value = excluded.value, reason = excluded.reason, voted_at = excluded.voted_at"
        " WHERE excluded.voted_at >= votes.voted_at",
        (answer_id, voter, value, reason, stamp(voted_at)),
    )
    return True


def retract_vote(db: sqlite_utils.Database, *, answer_id: str, voter: str, value: int, retracted_at: datetime) -> bool:
    """Takes a vote back if it still is the one meant: this value, and cast no later. Whether there was one."""
    gone = db.conn.execute(
        "DELETE FROM votes WHERE answer_id = ? AND voter = ? AND value = ? AND voted_at <= ?",
        (answer_id, voter, value, stamp(retracted_at)),
    )
    return bool(gone.rowcount == 1)


def judge(db: sqlite_utils.Database, judgement: Judgement, judged_at: datetime) -> None:
    """One judgement an answer and judge; a second one replaces it."""
    db.conn.execute(
        "INSERT OR REPLACE INTO judgements (answer_id, judge, faithfulness, statements, supported, reasons, judged_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            judgement.answer_id,
            judgement.judge,
            judgement.faithfulness,
            judgement.statements,
            judgement.supported,
            _json(judgement.reasons),
            stamp(judged_at),
        ),
    )


def _chunk_row(chunk: Chunk) -> tuple[object, ...]:
    return (
        chunk.id,
        chunk.path,
        chunk.start_line,
        chunk.end_line,
        str(chunk.kind),
        chunk.language,
        chunk.symbol,
        chunk.scope,
        _json(chunk.defines),
        chunk.signature,
        chunk.doc,
        chunk.module_doc,
        chunk.text,
    )


def _json(value: Sequence[object] | Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
