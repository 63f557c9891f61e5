"""What happens when nobody asks: nightly rebuilds, rebuilds after a push, sampled judging, retention. All times are UTC.

The clockwork itself, `scheduler.jobs`, is imported by what serves alone: commands need the tables here, and no APScheduler.
"""

from scheduler.builds import Builds
from scheduler.faults import Faults
from scheduler.judging import Judging
from scheduler.nightly import Nightly
from scheduler.polling import Polling
from scheduler.protocols import Announcer, AnswerJudge, Rebuild
from scheduler.pushes import Pushes
from scheduler.retention import Retention
from scheduler.settings import ScheduleSettings

__all__ = [
    "Announcer",
    "AnswerJudge",
    "Builds",
    "Faults",
    "Judging",
    "Nightly",
    "Polling",
    "Pushes",
    "Rebuild",
    "Retention",
    "ScheduleSettings",
]
