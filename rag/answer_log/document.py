"""docs/answer-log.md, written from the tables themselves: `python -m rag.answer_log.document > docs/answer-log.md`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import sqlite_utils

from rag.answer_log import MIGRATIONS

_LINE = re.compile(r"^\s*(?P<code>.*?)\s*--\s*(?P<comment>.*?)\s*$")

_HEAD = """# The answer log

<!-- Written by `python -m rag.answer_log.document`; a test compares it with the tables. Edit schema.py and evaluations.py there. -->

`footnote.sqlite` in the data directory holds every question that was accepted, what was retrieved for it, what was answered and cited,
how long each stage took, what people and judges thought of it, and every build, job run and evaluation. `footnote log` and
`footnote eval history` show it; any SQLite client may read it, also while Footnote runs:

```
sqlite3 -readonly footnote.sqlite
```

Times are UTC, `2026-11-29T21:32:56.000000Z`, so that they compare as text. The repositories' secrets were redacted before they were
indexed, so none is here. What is older than the retention setting is deleted every day, from the file and from its write-ahead log, with
all rows that hang on it. Evaluations stay: they hold ids and scores, no question that anyone asked.
"""

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "The last ten questions and what became of them",
        "SELECT asked_at, repository, state, abstained, question FROM answers ORDER BY asked_at DESC LIMIT 10;",
    ),
    (
        "Everything retrieved for the latest answer, with its ranks and scores",
        """SELECT r.rank, c.path, c.start_line, c.end_line, c.symbol, r.score,
       coalesce(r.scores ->> '$.bm25', r.scores ->> '$.sparse') AS bm25, r.scores ->> '$.sparse_rank' AS sparse_rank,
       r.scores ->> '$.similarity' AS cosine, r.scores ->> '$.dense_rank' AS dense_rank
FROM results r JOIN chunks c ON c.id = r.chunk_id
WHERE r.answer_id = (SELECT id FROM answers WHERE state = 'answered' ORDER BY asked_at DESC LIMIT 1)
ORDER BY r.rank;""",
    ),
    (
        "Where the time goes: mean and worst seconds of each stage",
        """SELECT stage, count(*) AS answers, round(avg(seconds), 3) AS mean, round(max(seconds), 3) AS worst
FROM stages GROUP BY stage ORDER BY mean DESC;""",
    ),
    (
        "Questions that people were not happy with",
        """SELECT a.asked_at, a.repository, a.question, v.reason
FROM votes v JOIN answers a ON a.id = v.answer_id WHERE v.value = -1 ORDER BY v.voted_at DESC;""",
    ),
    (
        "Files that are cited most",
        """SELECT a.repository, c.path, count(*) AS citations
FROM citations c JOIN answers a ON a.id = c.answer_id GROUP BY a.repository, c.path ORDER BY citations DESC LIMIT 20;""",
    ),
    (
        "Share of abstentions and of failures, by repository",
        """SELECT repository, count(*) AS questions, round(avg(coalesce(abstained, 0)), 2) AS abstained,
       round(avg(state = 'failed'), 2) AS failed
FROM answers GROUP BY repository;""",
    ),
    (
        "Faithfulness by day and judge",
        """SELECT substr(a.asked_at, 1, 10) AS day, j.judge, count(*) AS judged, round(avg(j.faithfulness), 3) AS faithfulness
FROM judgements j JOIN answers a ON a.id = j.answer_id GROUP BY day, j.judge ORDER BY day DESC;""",
    ),
    (
        "Builds that failed, and why",
        "SELECT finished_at, repository, cause, error_kind, error FROM builds WHERE ok = 0 ORDER BY id DESC LIMIT 20;",
    ),
    (
        "What the last builds cost",
        """SELECT repository, substr(commit_sha, 1, 12) AS commit_id, chunks, embedded, reused, s.key AS stage, round(s.value, 1) AS seconds
FROM builds, json_each(builds.seconds) s WHERE builds.id IN (SELECT max(id) FROM builds WHERE ok = 1 GROUP BY repository);""",
    ),
    (
        "How good retrieval was in each evaluation, by data set and stage",
        """SELECT r.id, substr(r.started_at, 1, 16) AS at, r.scope, r.note, m.dataset, m.stage, m.questions,
       round(m.ndcg, 4) AS ndcg, round(m.ndcg_low, 3) AS low, round(m.ndcg_high, 3) AS high
FROM eval_means m JOIN eval_runs r ON r.id = m.run_id WHERE m.level = 'files' ORDER BY m.dataset, m.stage, r.id;""",
    ),
    (
        "Questions that are found worst in the last evaluation",
        """SELECT repository, question, max(files) AS best_stage FROM eval_outcomes
WHERE run_id = (SELECT max(id) FROM eval_runs) GROUP BY repository, question ORDER BY best_stage LIMIT 20;""",
    ),
    (
        "The last run of each scheduled job",
        "SELECT job, finished_at, ok, reason, detail FROM runs WHERE id IN (SELECT max(id) FROM runs GROUP BY job);",
    ),
)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """`columns`: (name, type and constraints, what it holds), in order."""

    name: str
    purpose: str
    columns: tuple[tuple[str, str, str], ...]


def describe(db: sqlite_utils.Database) -> list[TableDescription]:
    """Every table with the comments that its CREATE TABLE carries, in the order they were made."""
    found = []
    for name, sql in db.conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL ORDER BY rowid"):
        lines = [match for line in sql.splitlines() if (match := _LINE.match(line))]
        purpose = next((match["comment"] for match in lines if match["code"].upper().startswith("CREATE TABLE")), "")
        columns = tuple(
            (*match["code"].rstrip(",").split(" ", 1), match["comment"])
            for match in lines
            if not match["code"].upper().startswith("CREATE TABLE")
        )
        found.append(TableDescription(name, purpose, columns))
    return found


def page() -> str:
    """The whole page, from a database made by the migrations."""
    db = sqlite_utils.Database(memory=True, execute_plugins=False)
    for migration in MIGRATIONS:
        migration.apply(db)
    parts = [_HEAD]
    for table in describe(db):
        rows = "\n".join(f"| `{name}` | `{type_}` | {comment} |" for name, type_, comment in table.columns)
        parts.append(
            f"## {table.name}\n\n{table.purpose[0].upper()}{table.purpose[1:]}.\n\n| column | type | holds |\n|---|---|---|\n{rows}\n"
        )
    parts.append("## Questions to ask it\n")
    parts.extend(f"{title}:\n\n```sql\n{sql}\n```\n" for title, sql in EXAMPLES)
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
