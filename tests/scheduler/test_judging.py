"""The sample is judged once, what is private is not shown, and a fall is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from rag.answer_log import AnswerLog
from rag.answer_log.writing import sample_point
from rag.errors import GeneratorError, GeneratorUnavailable
from rag.types import Judgement, SearchResult
from scheduler import Judging, Retention, ScheduleSettings
from tests.log.samples import RESULTS, answer, ask
from tests.scheduler.conftest import NOW, Clock, Listener


@dataclass
class Referee:
    """A judge that gives `score`, fails for the ids in `errors`, and remembers whom it saw."""

    score: float = 1.0
    errors: dict[str, Exception] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    cited: list[Mapping[int, SearchResult]] = field(default_factory=list)
    slow: bool = False
    name: str = "referee@1"

    async def judge(self, *, answer_id: str, question: str, text: str, cited: Mapping[int, SearchResult]) -> Judgement:
        self.seen.append(answer_id)
        self.cited.append(cited)
        if self.slow:
            await asyncio.sleep(60)
        if answer_id in self.errors:
            raise self.errors[answer_id]
        return Judgement(answer_id, self.score, 4, round(4 * self.score), (), self.name)


async def _answered(log: AnswerLog, *ids: str, days_ago: float = 0.1, repository: str = "demo") -> None:
    for number, answer_id in enumerate(ids):
        await ask(log, answer_id, asked_at=NOW - timedelta(days=days_ago, seconds=-number), repository=repository)
        await log.complete(answer(answer_id), RESULTS)


def _judging(log: AnswerLog, referee: Referee, listener: Listener, clock: Clock, **settings: float) -> Judging:
    values: dict[str, float] = {"judge_share": 1.0} | settings
    return Judging(
        log, referee, lambda name: name != "private", listener, ScheduleSettings(**values), timeout=1.0, clock=clock  # type: ignore[arg-type]
    )  # fmt: skip


async def test_the_share_decides_who_and_nobody_is_judged_twice(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    ids = [f"a{number}" for number in range(40)]
    await _answered(log, *ids)
    referee = Referee()
    judging = _judging(log, referee, listener, clock, judge_share=0.3)
    result = await judging.run()
    expected = [answer_id for answer_id in ids if sample_point(answer_id) < 0.3]
    assert 4 <= len(expected) <= 20
    assert referee.seen == expected
    assert (result.reason, result.detail["judged"], result.detail["average"]) == ("", len(expected), 1.0)
    assert referee.cited[0] == {1: RESULTS[0]}
    assert (await judging.run()).detail["judged"] == 0
    assert len(referee.seen) == len(expected)


async def test_private_code_and_old_answers_are_not_shown_to_the_judge(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    await _answered(log, "secret", repository="private")
    await _answered(log, "old", days_ago=8)
    await _answered(log, "open")
    referee = Referee()
    result = await _judging(log, referee, listener, clock).run()
    assert referee.seen == ["open"]
    assert (result.detail["sampled"], result.detail["private"]) == (2, 1)


async def test_what_cannot_be_judged_is_counted_named_and_tried_again(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    await _answered(log, "a", "b", "c")
    referee = Referee(errors={"b": GeneratorError("The judge's reply is no JSON.")})
    judging = _judging(log, referee, listener, clock)
    result = await judging.run()
    assert (result.detail["judged"], result.detail["failed"]) == (2, 1)
    assert result.reason == "The judge's reply is no JSON."
    referee.errors.clear()
    result = await judging.run()
    assert (result.reason, result.detail["judged"]) == ("", 1)


async def test_a_judge_that_is_down_is_left_alone_after_three(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    ids = [f"a{number}" for number in range(9)]
    await _answered(log, *ids)
    referee = Referee(errors={answer_id: GeneratorUnavailable("Groq is down.") for answer_id in ids})
    result = await _judging(log, referee, listener, clock).run()
    assert (len(referee.seen), result.detail["failed"], result.reason) == (3, 3, "Groq is down.")


async def test_a_judge_that_hangs_is_a_failure(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    await _answered(log, "a")
    result = await _judging(log, Referee(slow=True), listener, clock).run()
    assert result.detail["failed"] == 1
    assert result.reason


async def test_a_run_judges_a_limited_number(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    await _answered(log, *(f"a{number}" for number in range(5)))
    judging = _judging(log, Referee(), listener, clock, judge_limit=3)
    assert [(await judging.run()).detail["judged"] for _ in range(3)] == [3, 2, 0]


async def test_a_fall_is_told_once_and_again_after_a_recovery(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    referee = Referee()
    judging = _judging(log, referee, listener, clock, judge_window=10)

    async def day(number: int, score: float) -> float:
        clock.now = NOW + timedelta(days=number)
        referee.score = score
        for index in range(5):
            await ask(log, f"d{number}-{index}", asked_at=clock.now - timedelta(seconds=9 - index))
            await log.complete(answer(f"d{number}-{index}"), RESULTS)
        return (await judging.run()).detail["average"]

    averages, alerts = [], []
    for number, score in enumerate((1.0, 0.75, 0.75, 0.5, 1.0, 1.0, 0.25)):
        averages.append(await day(number, score))
        alerts.append(len(listener.alerts))
    assert averages == pytest.approx([1.0, 0.875, 0.75, 0.625, 0.75, 1.0, 0.625])
    assert alerts == [0, 0, 1, 1, 1, 1, 2]
    assert listener.alerts[0].startswith("Faithfulness has fallen to 0.75")


async def test_a_few_bad_judgements_are_not_enough_for_an_alert(log: AnswerLog, listener: Listener, clock: Clock) -> None:
    await _answered(log, "a", "b", "c", "d")
    result = await _judging(log, Referee(score=0.0), listener, clock).run()
    assert "average" not in result.detail
    assert listener.alerts == []


async def test_retention_deletes_what_is_older_than_its_days(log: AnswerLog, clock: Clock) -> None:
    await _answered(log, "old", days_ago=31)
    await _answered(log, "new", days_ago=29)
    result = await Retention(log, 30, clock=clock).run()
    assert (result.reason, result.detail["answers"]) == ("", 1)
    assert await log.get("old") is None
    assert await log.get("new") is not None


async def test_retention_also_purges_what_others_keep(log: AnswerLog, clock: Clock) -> None:
    asked: list[datetime] = []

    async def purge(before: datetime) -> int:
        asked.append(before)
        return 3

    result = await Retention(log, 30, {"inbox": purge}, clock=clock).run()
    assert asked == [clock() - timedelta(days=30)]
    assert result.detail["inbox"] == 3
