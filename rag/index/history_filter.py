"""Filters by author and date, made into the set of paths that they mean, before anything is searched: both retrievers get the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np

from rag.index.history import HistoryFile
from rag.source.history.names import kept_name, meant_by, near
from rag.source.history.tally import History
from rag.types import Filters

NO_HISTORY = "This index holds no history yet, so nothing can be found by author or date; the next build of it adds the history."
MASKED = "Names of authors are masked here: nobody can be found by name."
CUT = "The clone that was read is shallow: of files whose last change it does not hold, neither author nor date is known."


def resolved(filters: Filters, file: HistoryFile) -> tuple[Filters, tuple[str, ...]]:
    """The filters with `files` set where they ask for authors or dates, and what whoever asked must be told.

    A file whose date is not known is neither since nor before any day.
    """
    if not filters.by_history or filters.files is not None:
        return filters, ()
    history = file.get()
    if history is None:
        return replace(filters, files=frozenset()), (NO_HISTORY,)
    chosen = np.ones(len(history.paths), dtype=np.bool_)
    notices = [CUT] if history.cut else []
    if filters.author and not history.named:
        chosen[:] = False
        notices.append(MASKED)
    elif filters.author:
        numbers = []
        for wanted in filters.author:
            meant = set(meant_by(wanted, history.authors))
            own = [number for number, name in enumerate(history.authors) if name in meant]
            if not np.isin(history.changed_by, own).any():
                notices.append(_nobody(wanted, own, history))
            numbers += own
        chosen &= np.isin(history.changed_by, numbers)
    if filters.since or filters.before:
        chosen &= history.changed > 0
    if filters.since:
        chosen &= history.changed >= _seconds(filters.since)
    if filters.before:
        chosen &= history.changed < _seconds(filters.before)
    return replace(filters, files=frozenset(history.paths[number] for number in np.flatnonzero(chosen).tolist())), tuple(notices)


def _nobody(wanted: str, own: list[int], history: History) -> str:
    shown = kept_name(wanted) or "that name"
    if own:
        return f"No file that stands today was last changed by {shown}."
    close = near(wanted, history.authors)
    return f"The history knows no author {shown}." + (f" Near: {', '.join(close)}." if close else "")


def _seconds(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
