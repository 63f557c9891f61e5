"""The history that belongs to a generation: `history.npz` beside its parts, there or not there. It may arrive after both of them, and an
index without it answers everything but who and when.

It is not a part of the index: no checksum of the manifest covers it, and one that cannot be read counts as none.
"""

from __future__ import annotations

import io
import json
import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np

from rag.index.files import write_durably
from rag.source.history.tally import History

logger = logging.getLogger(__name__)

HISTORY = "history.npz"
_FORMAT = 1
_ARRAYS = ("changed", "changed_by", "starts", "who", "commits", "weights", "last")


def write_history(directory: Path, history: History) -> None:
    """Durable, and whole or not there: replaces what a generation's directory held."""
    words = {name: getattr(history, name) for name in ("commit", "reference", "cut", "named", "mailmap", "paths", "authors")}
    text = json.dumps({"format": _FORMAT, **words}).encode("ascii")
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(getattr(history, name)) for name in _ARRAYS}
    np.savez_compressed(buffer, words=np.frombuffer(text, dtype=np.uint8), **arrays)
    write_durably(directory / HISTORY, buffer.getvalue())


def read_history_file(path: Path) -> History | None:
    """None where there is none, or none that this version can read."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            words = json.loads(stored["words"].tobytes())
            arrays = {name: stored[name] for name in _ARRAYS}
        if words.pop("format") != _FORMAT:
            return None
        words["paths"], words["authors"] = tuple(words["paths"]), tuple(words["authors"])
        history = History(**words, **arrays)
        _check(history)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile, zlib, numpy or json make of a damaged file
        logger.warning("the history in %s cannot be read and counts as none: %s: %s", path, type(error).__name__, error)
        return None
    return history


class HistoryFile:
    """A generation's history, read when it is first asked for, and again where the file is another by then. Threads may share it.

    `named`: whether names may be told at all; where not, a file that still holds some gives dates alone.
    """

    def __init__(self, directory: Path, *, named: bool = True) -> None:
        self._path = directory / HISTORY
        self.named = named
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._history: History | None = None

    def get(self) -> History | None:
        """None while there is none."""
        try:
            stat = self._path.stat()
            seen = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            return None
        with self._lock:
            if seen != self._seen:
                found = read_history_file(self._path)
                self._history, self._seen = (found if found is None or self.named else nameless(found)), seen
            return self._history


def nameless(history: History) -> History:
    """The same without names and without what anybody did."""
    nothing = np.zeros(0)
    return History(
        commit=history.commit,
        reference=history.reference,
        cut=history.cut,
        named=False,
        mailmap=history.mailmap,
        paths=history.paths,
        authors=(),
        changed=history.changed,
        changed_by=np.full(len(history.paths), -1, dtype=np.int32),
        starts=np.zeros(len(history.paths) + 1, dtype=np.int64),
        who=nothing.astype(np.int32),
        commits=nothing.astype(np.int32),
        weights=nothing,
        last=nothing.astype(np.int64),
    )


def _check(history: History) -> None:
    """Raises: ValueError where its parts do not belong together."""
    files, pairs, authors = len(history.paths), len(history.who), len(history.authors)
    whole = (
        all(len(column) == files for column in (history.changed, history.changed_by))
        and all(len(column) == pairs for column in (history.commits, history.weights, history.last))
        and len(history.starts) == files + 1
        and int(history.starts[-1]) == pairs
        and int(max(history.who.max(initial=-1), history.changed_by.max(initial=-1))) < authors
    )
    if not whole:
        raise ValueError("its parts do not belong together")
