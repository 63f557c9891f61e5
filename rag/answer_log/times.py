"""Moments as the log writes them: UTC, always of the same length, so that text sorts as time."""

from __future__ import annotations

from datetime import UTC, datetime

_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """2026-11-29T21:32:56.000000Z. Raises: ValueError for a moment without a time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment in the log needs a time zone")
    return moment.astimezone(UTC).strftime(_FORM)


def moment(text: str) -> datetime:
    return datetime.strptime(text, _FORM).replace(tzinfo=UTC)
