"""One pass over the history, from where the last one ended if it can be continued."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rag.source.history.changes import Change, changes, committed_at, cut_at, holds, mailmap_of
from rag.source.history.tally import EARLIEST, History, Tally

_DAY = 86_400


class Listener(Protocol):
    """Hears what a pass reads, messages too."""

    def add(self, change: Change) -> None:
        """Called for each commit, newest first; not for those at which a shallow clone ends."""
        ...

    def continues(self) -> None:
        """Called behind the last, where all that is older was read by the pass before."""
        ...


def read_history(
    git_dir: Path,
    commit: str,
    paths: Sequence[str],
    *,
    named: bool,
    former: History | None = None,
    listener: Listener | None = None,
    timeout: float = 900.0,
) -> History:
    """The last changes and the authors of `paths`, which are those of `commit`. `named`: whether names are kept. `timeout`: in seconds.

    Continues `former` where its commit is an ancestor of this one, it was made alike, and no clone was shallow. A file that was deleted
    before `former` and is back since counts from its return.
    Raises: GitTimeout, SourceError.
    """
    now = int(time.time())
    written = committed_at(git_dir, commit)
    reference = written if EARLIEST <= written <= now + _DAY else now
    boundary, mailmap = cut_at(git_dir), mailmap_of(git_dir, commit)
    tally = Tally(paths, reference, now + _DAY, named=named, boundary=boundary)
    continued = former is not None and _continues(former, git_dir, commit, named, mailmap, bool(boundary))
    known = former.commit if former is not None and continued else ""
    for change in changes(git_dir, commit, without=known, messages=listener is not None, timeout=timeout):
        if change.commit in boundary:
            continue
        tally.add(change)
        if listener is not None:
            listener.add(change)
    if former is not None and continued:
        tally.add_former(former)
        if listener is not None:
            listener.continues()
    return tally.history(commit, mailmap)


def _continues(former: History, git_dir: Path, commit: str, named: bool, mailmap: str, cut: bool) -> bool:
    if (former.named, former.mailmap) != (named, mailmap) or former.cut or cut:
        return False
    return holds(git_dir, commit, former.commit)
