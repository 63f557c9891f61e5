"""Runs of `footnote eval`: what was asked, how well each data set did at each stage, and each question's scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

import sqlite_utils

from rag.answer_log.times import moment, stamp
from rag.database import Migration

KEPT_OUTCOMES = 100  # runs whose single questions are kept; their means are kept for good

_TABLES = (
    """
CREATE TABLE eval_runs ( -- every run of footnote eval
  id INTEGER PRIMARY KEY, -- counts up
  started_at TEXT NOT NULL, -- UTC
  finished_at TEXT NOT NULL, -- UTC
  files TEXT NOT NULL, -- JSON list: names of the files of questions
  scope TEXT NOT NULL, -- what was indexed: whole, index_root, blanked …
  settings TEXT NOT NULL, -- JSON object: embedding model, settings of retrieval, version
  note TEXT NOT NULL, -- why it was made, in the words of who ran it
  asked INTEGER NOT NULL, -- questions that were asked
  left_out INTEGER NOT NULL -- questions that could not be
) STRICT""",
    """
CREATE TABLE eval_means ( -- the mean scores of a run, by data set, stage and level
  run_id INTEGER NOT NULL REFERENCES eval_runs(id) ON DELETE CASCADE, -- which run
  dataset TEXT NOT NULL, -- which data set
  questions_hash TEXT NOT NULL, -- the same for the same questions with the same labels: such means compare
  stage TEXT NOT NULL, -- grep, sparse, dense, fused …
  level TEXT NOT NULL CHECK (level IN ('files', 'lines')), -- whether the right file counts, or the right lines
  questions INTEGER NOT NULL, -- over so many questions
  repositories INTEGER NOT NULL, -- about so many repositories
  ndcg REAL NOT NULL, -- NDCG@10
  recall REAL NOT NULL, -- recall@10
  precision REAL NOT NULL, -- precision@5
  reciprocal_rank REAL NOT NULL, -- MRR
  ndcg_low REAL, -- lower end of the 95 % interval of NDCG@10, by bootstrap over repositories; NULL where there is one repository
  ndcg_high REAL, -- upper end
  median_ms REAL NOT NULL, -- median milliseconds of a search
  PRIMARY KEY (run_id, dataset, stage, level)
) STRICT""",
    f"""
CREATE TABLE eval_outcomes ( -- NDCG@10 of each question of the last {KEPT_OUTCOMES} runs
  run_id INTEGER NOT NULL REFERENCES eval_runs(id) ON DELETE CASCADE, -- which run
  question TEXT NOT NULL, -- the question's id in its file
  dataset TEXT NOT NULL, -- its data set
  repository TEXT NOT NULL, -- owner/name
  stage TEXT NOT NULL, -- grep, sparse, dense, fused …
  files REAL NOT NULL, -- NDCG@10 of files
  lines REAL NOT NULL, -- NDCG@10 of lines
  PRIMARY KEY (run_id, question, stage)
) STRICT""",
)


def _create(db: sqlite_utils.Database) -> None:
    for statement in _TABLES:
        db.conn.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (Migration("evaluations", 1, _create),)
"""In order. A change of the schema is a new number, never an edit."""


@dataclass(frozen=True, slots=True)
class EvalMean:
    """One line of a run: a data set at a stage and level ("files" or "lines"). `low`, `high`: ends of the 95 % interval of `ndcg`.
    `questions_hash`: the same for the same questions with the same labels; only then do two compare."""

    dataset: str
    questions_hash: str
    stage: str
    level: str
    questions: int
    repositories: int
    ndcg: float
    recall: float
    precision: float
    reciprocal_rank: float
    low: float | None
    high: float | None
    median_ms: float


@dataclass(frozen=True, slots=True)
class EvalScore:
    """NDCG@10 of one question at one stage."""

    question: str
    dataset: str
    repository: str
    stage: str
    files: float
    lines: float


@dataclass(frozen=True, slots=True)
class EvalRun:
    """`id`: 0 before it is recorded. `scope`: what was indexed; only runs of the same scope compare."""

    id: int
    started_at: datetime
    finished_at: datetime
    files: tuple[str, ...]
    scope: str
    settings: Mapping[str, object]
    note: str
    asked: int
    left_out: int
    means: tuple[EvalMean, ...] = ()


_MEANS = (
    *("dataset", "questions_hash", "stage", "level", "questions", "repositories", "ndcg", "recall", "precision", "reciprocal_rank"),
    *("ndcg_low", "ndcg_high", "median_ms"),
)


def record(db: sqlite_utils.Database, run: EvalRun, scores: Sequence[EvalScore]) -> int:
    """Stores a run and gives its id; the single questions of runs that are long past go."""
    row = (
        stamp(run.started_at),
        stamp(run.finished_at),
        json.dumps(run.files),
        run.scope,
        json.dumps(run.settings),
        run.note,
        run.asked,
        run.left_out,
    )
    cursor = db.conn.execute(
        "INSERT INTO eval_runs (started_at, finished_at, files, scope, settings, note, asked, left_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    number = int(cursor.lastrowid or 0)
    db.conn.executemany(
        f"INSERT INTO eval_means (run_id, {', '.join(_MEANS)}) VALUES (?{', ?' * len(_MEANS)})",  # noqa: S608 - constants
        [(number, *astuple(mean)) for mean in run.means],
    )
    db.conn.executemany(
        "INSERT INTO eval_outcomes (run_id, question, dataset, repository, stage, files, lines) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(number, s.question, s.dataset, s.repository, s.stage, s.files, s.lines) for s in scores],
    )
    db.conn.execute(
        "DELETE FROM eval_outcomes WHERE run_id NOT IN (SELECT id FROM eval_runs ORDER BY id DESC LIMIT ?)",
        [KEPT_OUTCOMES],
    )
    return number


def runs(db: sqlite_utils.Database, limit: int) -> list[EvalRun]:
    """The last runs with their means, oldest first."""
    rows = list(db.query("SELECT * FROM (SELECT * FROM eval_runs ORDER BY id DESC LIMIT ?) ORDER BY id", [limit]))
    return [_run(db, row) for row in rows]


def run_of(db: sqlite_utils.Database, number: int) -> EvalRun | None:
    """A run with its means; None for an unknown id."""
    rows = list(db.query("SELECT * FROM eval_runs WHERE id = ?", [number]))
    return _run(db, rows[0]) if rows else None


def scores_of(db: sqlite_utils.Database, number: int) -> list[EvalScore]:
    """The single questions of a run; none where it is long past."""
    rows = db.query("SELECT * FROM eval_outcomes WHERE run_id = ? ORDER BY question, stage", [number])
    return [EvalScore(row["question"], row["dataset"], row["repository"], row["stage"], row["files"], row["lines"]) for row in rows]


def former(db: sqlite_utils.Database, run: EvalRun) -> int:
    """The id of the latest run before this one (of all if it is not recorded yet) that asked the same questions of one of its data
    sets at one of its stages in the same scope, and has its single questions still; 0 for none."""
    found = 0
    for mean in run.means:
        row = db.conn.execute(
            "SELECT max(r.id) FROM eval_runs r JOIN eval_means m ON m.run_id = r.id"
            " WHERE r.scope = ? AND m.dataset = ? AND m.questions_hash = ? AND m.stage = ? AND (? = 0 OR r.id < ?)"
            " AND r.id IN (SELECT run_id FROM eval_outcomes)",
            [run.scope, mean.dataset, mean.questions_hash, mean.stage, run.id, run.id],
        ).fetchone()
        found = max(found, int(row[0] or 0))
    return found


def _run(db: sqlite_utils.Database, row: dict[str, Any]) -> EvalRun:
    means = db.query("SELECT * FROM eval_means WHERE run_id = ? ORDER BY rowid", [row["id"]])
    return EvalRun(
        id=row["id"],
        started_at=moment(row["started_at"]),
        finished_at=moment(row["finished_at"]),
        files=tuple(json.loads(row["files"])),
        scope=row["scope"],
        settings=json.loads(row["settings"]),
        note=row["note"],
        asked=row["asked"],
        left_out=row["left_out"],
        means=tuple(EvalMean(*(mean[name] for name in _MEANS)) for mean in means),
    )
