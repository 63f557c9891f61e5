"""The answer log: what was asked, retrieved, answered, cited, voted and judged; builds and job runs. Its tables: docs/answer-log.md."""

from rag.answer_log import evaluations, schema
from rag.answer_log.log import AnswerLog
from rag.answer_log.records import AnswerSummary, BuildOutcome, BuildRecord, JobRun, LoggedAnswer, Purged, Vote, reason_of
from rag.answer_log.times import utc_now

MIGRATIONS = (*schema.MIGRATIONS, *evaluations.MIGRATIONS)

__all__ = [
    "MIGRATIONS",
    "AnswerLog",
    "AnswerSummary",
    "BuildOutcome",
    "BuildRecord",
    "JobRun",
    "LoggedAnswer",
    "Purged",
    "Vote",
    "reason_of",
    "utc_now",
]
