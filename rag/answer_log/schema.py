"""The tables of the answer log. Their comments are kept by SQLite (`.schema` shows them) and become docs/answer-log.md."""

from __future__ import annotations

import sqlite_utils

from rag.database import Migration

_TABLES_1 = (
    """
CREATE TABLE answers ( -- every question that was accepted and what became of it, one row a question
  id TEXT PRIMARY KEY, -- sorts by time
  question TEXT NOT NULL, -- as it was asked, or made to stand alone where it was a follow-up
  repository TEXT NOT NULL, -- name of the repository it was about
  origin TEXT NOT NULL, -- where it was asked: slack, command line, playground …
  asker TEXT NOT NULL DEFAULT '', -- id of the person there, '' where unknown
  team TEXT NOT NULL DEFAULT '', -- Slack workspace
  channel TEXT NOT NULL DEFAULT '', -- Slack channel
  thread TEXT NOT NULL DEFAULT '', -- the conversation: in Slack the time stamp of its first message
  asked_at TEXT NOT NULL, -- UTC, 2026-11-29T21:32:56.000000Z
  state TEXT NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'answered', 'failed')), -- asked: no answer yet
  finished_at TEXT, -- UTC, when it was answered or failed
  text TEXT, -- the answer, footnote numbers in brackets
  abstained INTEGER, -- 1: declined for lack of context
  generator TEXT, -- who wrote it: extractive, history, groq/llama-3.3-70b-versatile …
  generation TEXT, -- the index that was searched
  commit_sha TEXT, -- the commit that this index was built from
  branch TEXT, -- and its branch
  built_at TEXT, -- UTC, when that index was built
  dense_ready INTEGER, -- 0: only the sparse part stood
  dropped_citations INTEGER, -- chunk numbers that the generator made up, left out of the answer
  ungrounded TEXT, -- JSON list: quoted identifiers that do not stand in the cited lines
  notices TEXT, -- JSON list: what the reader was told beside the answer
  candidates TEXT, -- JSON object: retriever -> how many candidates it brought
  prompt_tokens INTEGER, -- tokens sent to the language model, 0 where there was none
  completion_tokens INTEGER, -- tokens that it wrote
  error_kind TEXT, -- of a failed one: the class of the error
  reference TEXT, -- of a failed one: the id that the asker was shown, also in the program's log
  sample_at REAL NOT NULL -- 0 to 1, from the hash of id: the answer is in every sample whose share exceeds it
) STRICT""",
    """
CREATE TABLE stages ( -- how long each stage of an answer took
  answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  stage TEXT NOT NULL, -- embed, sparse, dense, fuse, generate …
  seconds REAL NOT NULL, -- wall time
  PRIMARY KEY (answer_id, stage)
) STRICT""",
    """
CREATE TABLE chunks ( -- each retrieved piece of a repository once, so that an answer can be read again after its index is gone
  id TEXT PRIMARY KEY, -- hash of path, lines and text
  path TEXT NOT NULL, -- file in the repository
  start_line INTEGER NOT NULL, -- first line, from 1
  end_line INTEGER NOT NULL, -- last line, inclusive
  kind TEXT NOT NULL, -- function, method, class, module, section or lines
  language TEXT NOT NULL, -- python, go, markdown … or text
  symbol TEXT NOT NULL, -- the definition or heading, with its enclosing scopes
  scope TEXT NOT NULL, -- enclosing class, module or headings
  defines TEXT NOT NULL, -- JSON list: bare names defined in it
  signature TEXT NOT NULL, -- header of the definition
  doc TEXT NOT NULL, -- first sentence of its doc comment
  module_doc TEXT NOT NULL, -- first sentence of the module's docstring
  text TEXT NOT NULL -- the lines, secrets redacted
) STRICT""",
    """
CREATE TABLE results ( -- what was retrieved for an answer, every result in its order
  answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  rank INTEGER NOT NULL, -- 1 is the best
  chunk_id TEXT NOT NULL REFERENCES chunks(id), -- what was found
  score REAL NOT NULL, -- the score that it was ranked by
  scores TEXT NOT NULL, -- JSON object: every stage's score or rank, of the stages that saw it: sparse, similarity, fused, sparse_rank …
  permalink TEXT NOT NULL, -- web address of the lines at the commit, '' for none
  PRIMARY KEY (answer_id, rank)
) STRICT""",
    """
CREATE TABLE citations ( -- the footnotes of an answer
  answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  number INTEGER NOT NULL, -- the number in the answer's text
  chunk_id TEXT NOT NULL, -- the chunk that it rests on
  path TEXT NOT NULL, -- file in the repository
  start_line INTEGER NOT NULL, -- first line, from 1
  end_line INTEGER NOT NULL, -- last line, inclusive
  commit_sha TEXT NOT NULL, -- the commit that was read
  permalink TEXT NOT NULL, -- web address, '' for none
  PRIMARY KEY (answer_id, number)
) STRICT""",
    """
CREATE TABLE votes ( -- what people thought of an answer: one vote a person, the last one counts
  answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  voter TEXT NOT NULL, -- id of the person
  value INTEGER NOT NULL CHECK (value IN (1, -1)), -- 1 thumb up, -1 thumb down
  reason TEXT NOT NULL DEFAULT '', -- in the person's words, '' for none
  voted_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (answer_id, voter)
) STRICT""",
    """
CREATE TABLE judgements ( -- what a judge found: how much of an answer its cited lines support
  answer_id TEXT NOT NULL REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  judge TEXT NOT NULL, -- name and version of the judge
  faithfulness REAL NOT NULL CHECK (faithfulness BETWEEN 0 AND 1), -- supported ÷ statements
  statements INTEGER NOT NULL, -- statements in the answer
  supported INTEGER NOT NULL, -- of these, supported by the cited lines
  reasons TEXT NOT NULL, -- JSON list: the judge's reasons
  judged_at TEXT NOT NULL, -- UTC
  PRIMARY KEY (answer_id, judge)
) STRICT""",
    """
CREATE TABLE builds ( -- every build of an index, good or failed
  id INTEGER PRIMARY KEY, -- counts up
  repository TEXT NOT NULL, -- which repository
  cause TEXT NOT NULL, -- why it was built: command line, nightly, catch-up …
  started_at TEXT NOT NULL, -- UTC
  finished_at TEXT NOT NULL, -- UTC
  ok INTEGER NOT NULL, -- 1: its index answers; 0: it failed and the former one still answers
  commit_sha TEXT NOT NULL, -- the commit that was read, '' where it failed before that
  branch TEXT NOT NULL, -- and its branch
  generation TEXT NOT NULL, -- the index that it made, '' where it failed
  documents INTEGER NOT NULL, -- files indexed
  chunks INTEGER NOT NULL, -- chunks indexed
  embedded INTEGER NOT NULL, -- chunks that had to be embedded
  reused INTEGER NOT NULL, -- chunks whose vectors were known from before
  unchanged INTEGER NOT NULL, -- 1: there was nothing new, the former index stays
  skipped TEXT NOT NULL, -- JSON object: reason -> files left out
  fallbacks TEXT NOT NULL, -- JSON object: reason -> files cut by lines because they could not be parsed
  seconds TEXT NOT NULL, -- JSON object: stage -> seconds
  peak_memory_bytes INTEGER NOT NULL, -- most memory that the build used
  error_kind TEXT NOT NULL, -- class of the error, '' for none
  error TEXT NOT NULL -- what was wrong and what to do, '' for none
) STRICT""",
    """
CREATE TABLE runs ( -- every run of a scheduled job
  id INTEGER PRIMARY KEY, -- counts up
  job TEXT NOT NULL, -- nightly, catch-up, judging, retention
  started_at TEXT NOT NULL, -- UTC
  finished_at TEXT NOT NULL, -- UTC
  ok INTEGER NOT NULL, -- 1: nothing failed
  reason TEXT NOT NULL, -- of a failure; '' where there was none
  detail TEXT NOT NULL -- JSON object: what it did, in numbers
) STRICT""",
)

_INDEXES_1 = (
    "CREATE INDEX answers_by_time ON answers(asked_at)",
    "CREATE INDEX answers_by_conversation ON answers(team, channel, thread, asked_at)",
    "CREATE INDEX answers_by_asker ON answers(asker)",
    "CREATE INDEX results_by_chunk ON results(chunk_id)",
    "CREATE INDEX votes_by_voter ON votes(voter)",
    "CREATE INDEX judgements_by_time ON judgements(judge, judged_at)",
    "CREATE INDEX builds_by_repository ON builds(repository, id)",
    "CREATE INDEX runs_by_job ON runs(job, id)",
)


def _create(db: sqlite_utils.Database) -> None:
    for statement in (*_TABLES_1, *_INDEXES_1):
        db.conn.execute(statement)


_RETRIEVALS_2 = """
CREATE TABLE retrievals ( -- what is known of the search behind an answer as a whole
  answer_id TEXT PRIMARY KEY REFERENCES answers(id) ON DELETE CASCADE, -- which answer
  leads TEXT NOT NULL, -- which results came first: code or prose
  confidence REAL -- 0 to 1, how likely the question is about this repository; null where it was searched by words alone
) STRICT"""


def _add_retrievals(db: sqlite_utils.Database) -> None:
    db.conn.execute(_RETRIEVALS_2)


MIGRATIONS: tuple[Migration, ...] = (Migration("answer_log", 1, _create), Migration("answer_log", 2, _add_retrievals))
"""In order. A change of the schema is a new number, never an edit."""
