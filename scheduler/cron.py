"""Cron expressions as cron means them."""

from __future__ import annotations

import re
from datetime import UTC

from apscheduler.triggers.cron import CronTrigger

from rag.errors import ConfigurationError

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def trigger(expression: str, setting: str, jitter: int = 0) -> CronTrigger:
    """Five fields, UTC: no hour is skipped or repeated when clocks change. `jitter`: up to so many seconds late, by chance.

    Raises: ConfigurationError, naming the setting.
    """
    fields = expression.split()
    try:
        if len(fields) != 5:
            raise ValueError("not five fields")
        minute, hour, day, month, weekday = fields
        return CronTrigger(
            minute=minute, hour=hour, day=day, month=month, day_of_week=_weekdays(weekday), timezone=UTC, jitter=jitter or None
        )
    except ValueError as error:
        raise ConfigurationError(
            f'{setting} = "{expression}" is no cron expression.', 'Five fields, UTC: minute, hour, day, month, weekday, as in "0 2 * * *".'
        ) from error


def _weekdays(field: str) -> str:
    """APScheduler 3 counts from Monday = 0, cron from Sunday = 0: numbers become the names of single days."""
    return ",".join(_weekday(part) for part in field.split(","))


def _weekday(part: str) -> str:
    numbers = re.fullmatch(r"([0-7])(?:-([0-7]))?(?:/([1-9]\d*))?", part)
    if numbers is None:
        return part
    first = int(numbers[1])
    last = int(numbers[2]) if numbers[2] else 6 if numbers[3] else first
    if last < first:
        raise ValueError("days out of order")
    return ",".join(_DAYS[day] for day in range(first, last + 1, int(numbers[3] or 1)))
