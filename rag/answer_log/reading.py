"""What is read back about answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlite_utils

from rag.answer_log.records import AnswerSummary, LoggedAnswer, Vote
from rag.answer_log.times import moment, stamp
from rag.types import Chunk, Citation, Judgement, Kind, SearchResult, Turn

Row = dict[str, Any]


def recent(db: sqlite_utils.Database, limit: int, repository: str) -> list[AnswerSummary]:
    rows = db.query(
        """
        SELECT a.*,
          (SELECT count(*) FROM citations c WHERE c.answer_id = a.id) AS citations,
          (SELECT count(*) FROM votes v WHERE v.answer_id = a.id AND v.value = 1) AS up,
          (SELECT count(*) FROM votes v WHERE v.answer_id = a.id AND v.value = -1) AS down,
          (SELECT faithfulness FROM judgements j WHERE j.answer_id = a.id ORDER BY judged_at DESC LIMIT 1) AS faithfulness
        FROM answers a WHERE :repository = '' OR a.repository = :repository ORDER BY a.asked_at DESC, a.id DESC LIMIT :limit""",
        {"limit": limit, "repository": repository},
    )
    return [
        AnswerSummary(
            id=row["id"],
            asked_at=moment(row["asked_at"]),
            repository=row["repository"],
            origin=row["origin"],
            question=row["question"],
            state=row["state"],
            abstained=bool(row["abstained"]),
            citations=row["citations"],
            generator=row["generator"] or "",
            seconds=(moment(row["finished_at"]) - moment(row["asked_at"])).total_seconds() if row["finished_at"] else None,
            up=row["up"],
            down=row["down"],
            faithfulness=row["faithfulness"],
            error_kind=row["error_kind"] or "",
        )
        for row in rows
    ]


def get(db: sqlite_utils.Database, answer_id: str) -> LoggedAnswer | None:
    rows = list(db.query("SELECT * FROM answers WHERE id = ?", [answer_id]))
    return _answer(db, rows[0]) if rows else None


def turns(db: sqlite_utils.Database, *, team: str, channel: str, thread: str, repository: str, limit: int) -> list[Turn]:
    """Answered questions of one conversation about one repository, the last `limit` of them, oldest first."""
    if not thread:
        return []
    rows = db.query(
        "SELECT question, text FROM answers WHERE team = ? AND channel = ? AND thread = ? AND repository = ? AND state = 'answered'"
        " ORDER BY asked_at DESC, id DESC LIMIT ?",
        [team, channel, thread, repository, limit],
    )
    return [Turn(row["question"], row["text"]) for row in rows][::-1]


def sample(db: sqlite_utils.Database, share: float, since: datetime, judge: str) -> list[LoggedAnswer]:
    rows = db.query(
        "SELECT * FROM answers a WHERE a.sample_at < ? AND a.asked_at >= ? AND a.state = 'answered' AND a.abstained = 0"
        " AND a.generator IS NOT 'history'"  # names of people are not sent to a judge, who could not find them in the cited lines either
        " AND EXISTS (SELECT 1 FROM citations c JOIN results r USING (answer_id, chunk_id) WHERE c.answer_id = a.id)"
        " AND NOT EXISTS (SELECT 1 FROM judgements j WHERE j.answer_id = a.id AND j.judge = ?) ORDER BY a.asked_at, a.id",
        [share, stamp(since), judge],
    )
    return [_answer(db, row) for row in list(rows)]


def faithfulness(db: sqlite_utils.Database, judge: str, limit: int) -> list[float]:
    """The last `limit` scores by this judge, in the order the questions were asked."""
    rows = db.query(
        "SELECT j.faithfulness FROM judgements j JOIN answers a ON a.id = j.answer_id WHERE j.judge = ?"
        " ORDER BY a.asked_at DESC, a.id DESC LIMIT ?",
        [judge, limit],
    )
    return [row["faithfulness"] for row in rows][::-1]


def _answer(db: sqlite_utils.Database, row: Row) -> LoggedAnswer:
    mine: Sequence[str] = [row["id"]]
    retrieval: Row = next(iter(db.query("SELECT leads, confidence FROM retrievals WHERE answer_id = ?", mine)), {})
    return LoggedAnswer(
        id=row["id"],
        question=row["question"],
        repository=row["repository"],
        origin=row["origin"],
        asker=row["asker"],
        team=row["team"],
        channel=row["channel"],
        thread=row["thread"],
        asked_at=moment(row["asked_at"]),
        state=row["state"],
        finished_at=moment(row["finished_at"]) if row["finished_at"] else None,
        text=row["text"] or "",
        abstained=bool(row["abstained"]),
        generator=row["generator"] or "",
        generation=row["generation"] or "",
        commit=row["commit_sha"] or "",
        branch=row["branch"] or "",
        built_at=moment(row["built_at"]) if row["built_at"] else None,
        dense_ready=bool(row["dense_ready"]),
        dropped_citations=row["dropped_citations"] or 0,
        ungrounded=tuple(json.loads(row["ungrounded"] or "[]")),
        notices=tuple(json.loads(row["notices"] or "[]")),
        candidates=json.loads(row["candidates"] or "{}"),
        leads=retrieval.get("leads", ""),
        confidence=retrieval.get("confidence"),
        prompt_tokens=row["prompt_tokens"] or 0,
        completion_tokens=row["completion_tokens"] or 0,
        error_kind=row["error_kind"] or "",
        reference=row["reference"] or "",
        seconds={r["stage"]: r["seconds"] for r in db.query("SELECT * FROM stages WHERE answer_id = ? ORDER BY rowid", mine)},
        results=tuple(
            SearchResult(r["rank"], _chunk(r), r["score"], json.loads(r["scores"]), r["permalink"])
            for r in db.query("SELECT * FROM results r JOIN chunks c ON c.id = r.chunk_id WHERE answer_id = ? ORDER BY rank", mine)
        ),
        citations=tuple(
            Citation(r["number"], r["path"], r["start_line"], r["end_line"], r["commit_sha"], r["permalink"], r["chunk_id"])
            for r in db.query("SELECT * FROM citations WHERE answer_id = ? ORDER BY number", mine)
        ),
        votes=tuple(
            Vote(r["voter"], r["value"], r["reason"], moment(r["voted_at"]))
            for r in db.query("SELECT * FROM votes WHERE answer_id = ? ORDER BY voted_at, voter", mine)
        ),
        judgements=tuple(
            Judgement(r["answer_id"], r["faithfulness"], r["statements"], r["supported"], tuple(json.loads(r["reasons"])), r["judge"])
            for r in db.query("SELECT * FROM judgements WHERE answer_id = ? ORDER BY judged_at, judge", mine)
        ),
    )


def _chunk(row: Row) -> Chunk:
    return Chunk(
        path=row["path"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        kind=Kind(row["kind"]),
        language=row["language"],
        text=row["text"],
        symbol=row["symbol"],
        scope=row["scope"],
        defines=tuple(json.loads(row["defines"])),
        signature=row["signature"],
        doc=row["doc"],
        module_doc=row["module_doc"],
    )
