"""Days as people write them: "2024-03-01", "2024-03", "2024", and in the words of a question "changed since March 2024", "changed in the
last two weeks". What could mean anything else is no date. Pure."""

from __future__ import annotations

import re
from datetime import date, timedelta

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" if len(month) > 3 else month for month in _MONTHS)
_CHANGED = (
    r"\b(?:that |which )?(?:was |were |has been |have been |had |got )?(?:last )?(?:changed|modified|edited|touched|updated|committed)"
)
_SINCE = re.compile(
    rf"{_CHANGED} since (?:(?P<month>{_MONTH})\.? (?P<year>\d{{4}})|(?P<iso>\d{{4}}-\d{{2}}(?:-\d{{2}})?))(?=[\s?.!,]*$)", re.I
)
_LATELY = re.compile(
    rf"{_CHANGED} (?:in|within|during) the (?:last|past) (?:(?P<count>\d{{1,3}}|one|two|three|four|six) )?(?P<unit>day|week|month|year)s?"
    r"(?=[\s?.!,]*$)",
    re.I,
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6}
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}


def day_of(text: str) -> date | None:
    """The first day of what is written as year, year and month, or all three; None for anything else."""
    found = _DAY.fullmatch(text)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        return None


def days_in_words(question: str, today: date) -> tuple[str, dict[str, date]]:
    """The question without words that end it by saying since when files were changed, and that day as "since"."""
    if found := _SINCE.search(question):
        month = 1 + [name[:3] for name in _MONTHS].index(found["month"][:3].lower()) if found["month"] else 0
        day = day_of(found["iso"]) if found["iso"] else date(int(found["year"]), month, 1) if int(found["year"]) else None
    elif found := _LATELY.search(question):
        count = found["count"] or "1"
        length = (int(count) if count.isdecimal() else _COUNTS[count.lower()]) * _LENGTHS[found["unit"].lower()]
        day = today - timedelta(days=length)
    else:
        return question, {}
    rest = question[: found.start()] + question[found.end() :]
    if day is None or not re.search(r"\w", rest):
        return question, {}
    return rest, {"since": day}
