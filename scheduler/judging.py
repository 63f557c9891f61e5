"""Judging a sample of the answers, and noticing when they get worse."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from rag.answer_log import AnswerLog, reason_of, utc_now
from rag.errors import FootnoteError
from scheduler.announcing import tell
from scheduler.protocols import Announcer, AnswerJudge, JobResult
from scheduler.settings import ScheduleSettings

logger = logging.getLogger(__name__)
ENOUGH = 5  # judgements, before their mean is worth an alert
GIVE_UP = 3  # failures in a row, after which the judge is left alone until the next run


class Judging:
    """`may_judge`: whether the judge may see the code of the repository of this name; a judge that calls a language model may not see
    one whose answers are written on this machine alone."""

    def __init__(
        self,
        log: AnswerLog,
        judge: AnswerJudge,
        may_judge: Callable[[str], bool],
        announcer: Announcer,
        settings: ScheduleSettings,
        *,
        timeout: float = 120.0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._log = log
        self._judge = judge
        self._may_judge = may_judge
        self._announcer = announcer
        self._settings = settings
        self._timeout = timeout
        self._clock = clock

    async def run(self) -> JobResult:
        """Judges what the sample holds and is not judged yet, oldest first; alerts when the moving average falls below its limit."""
        settings = self._settings
        before = await self._average()
        since = self._clock() - timedelta(days=settings.judge_days)
        sample = await self._log.sample(settings.judge_share, since, self._judge.name)
        allowed = [answer for answer in sample if self._may_judge(answer.repository)]
        detail = {"sampled": float(len(sample)), "private": float(len(sample) - len(allowed)), "judged": 0.0, "failed": 0.0}
        reason, in_a_row = "", 0
        for answer in allowed[: settings.judge_limit]:
            try:
                async with asyncio.timeout(self._timeout):
                    judgement = await self._judge.judge(answer_id=answer.id, question=answer.question, text=answer.text, cited=answer.cited)
            except (FootnoteError, TimeoutError) as error:
                detail["failed"] += 1
                in_a_row += 1
                reason = reason_of(error)
                logger.warning("answer %s was not judged: %s", answer.id, type(error).__name__)
                if in_a_row == GIVE_UP:
                    break
            else:
                in_a_row = 0
                detail["judged"] += 1
                await self._log.add_judgement(judgement)
        after = await self._average()
        if after is not None:
            detail["average"] = after
            limit = settings.judge_alert_below
            # Told once, when it falls, and again only after it had recovered.
            if after < limit and detail["judged"] and (before is None or before >= limit):
                await tell(
                    self._announcer,
                    f"Faithfulness has fallen to {after:.2f}, the mean of the last {settings.judge_window} judged answers; the limit is"
                    f" {limit:.2f}. `footnote log` shows the answers.",
                )
        return JobResult(reason, detail)

    async def _average(self) -> float | None:
        scores = await self._log.faithfulness(self._judge.name, self._settings.judge_window)
        return sum(scores) / len(scores) if len(scores) >= ENOUGH else None
