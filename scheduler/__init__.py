"""What happens when nobody asks: nightly rebuilds, sampled judging, retention. All times are UTC."""

from scheduler.builds import Builds
from scheduler.jobs import Scheduler
from scheduler.judging import Judging
from scheduler.nightly import Nightly
from scheduler.protocols import Announcer, AnswerJudge, Rebuild
from scheduler.retention import Retention
from scheduler.settings import ScheduleSettings

__all__ = ["Announcer", "AnswerJudge", "Builds", "Judging", "Nightly", "Rebuild", "Retention", "ScheduleSettings", "Scheduler"]
