"""The history that belongs to a generation: `history.npz` beside its parts, there or not there. It may arrive after both of them, and an
index without it answers everything but who and when.

It is not a part of the index: no checksum of the manifest covers it, and one that cannot be read counts as none. It holds what commits
say as well, of which nothing is read where names are masked: messages name people.
"""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from rag.index.files import write_durably
from rag.index.messages import Messages
from rag.source.history.tally import History

logger = logging.getLogger(__name__)

HISTORY = "history.npz"
_FORMAT = 1
_ARRAYS = ("changed", "changed_by", "starts", "who", "commits", "weights", "last")
_OF_MESSAGES = tuple(field.name for field in fields(Messages) if field.name not in ("paths", "terms"))

T = TypeVar("T")


def write_history(directory: Path, history: History, messages: Messages | None = None) -> None:
    """Durable, and whole or not there: replaces what a generation's directory held. `messages`: of the same paths."""
    words = {name: getattr(history, name) for name in ("commit", "reference", "cut", "named", "mailmap", "paths", "authors")}
    text = json.dumps({"format": _FORMAT, **words}).encode("ascii")
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(getattr(history, name)) for name in _ARRAYS}
    if messages is not None:
        arrays |= {f"message_{name}": getattr(messages, name) for name in _OF_MESSAGES}
        arrays["message_terms"] = np.frombuffer("\n".join(messages.terms).encode(), dtype=np.uint8)
    np.savez_compressed(buffer, words=np.frombuffer(text, dtype=np.uint8), **arrays)
    write_durably(directory / HISTORY, buffer.getvalue())


def read_history_file(path: Path) -> History | None:
    """None where there is none, or none that this version can read."""
    return _read(path, _history)


def read_messages(path: Path) -> Messages | None:
    """What commits say. None where there is no history, or one without."""
    return _read(path, _messages)


class HistoryFile:
    """A generation's history, read when it is first asked for, and again where the file is another by then. Threads may share it.

    `named`: whether names may be told at all; where not, a file that still holds some gives dates alone.
    """

    def __init__(self, directory: Path, *, named: bool = True) -> None:
        self.named = named
        self._history = _Kept(directory / HISTORY, _history if named else lambda stored: nameless(_history(stored)))
        self._messages = _Kept(directory / HISTORY, _messages if named else lambda stored: None)

    def get(self) -> History | None:
        """None while there is none."""
        return self._history.get()

    def messages(self) -> Messages | None:
        """What commits say. None while there is no history, where it is without, and where names are masked."""
        return self._messages.get()


class _Kept(Generic[T]):
    def __init__(self, path: Path, made: Callable[[Any], T]) -> None:
        self._path = path
        self._made = made
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._value: T | None = None

    def get(self) -> T | None:
        try:
            stat = self._path.stat()
            seen = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            return None
        with self._lock:
            if seen != self._seen:
                self._value, self._seen = _read(self._path, self._made), seen
            return self._value


def _read(path: Path, made: Callable[[Any], T]) -> T | None:
    """`made`: of an opened npz."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return made(stored)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever zipfile, zlib, numpy or json make of a damaged file
        logger.warning("the history in %s cannot be read and counts as none: %s: %s", path, type(error).__name__, error)
        return None


def _words(stored: Any) -> dict[str, Any]:
    words: dict[str, Any] = json.loads(stored["words"].tobytes())
    if (version := words.pop("format")) != _FORMAT:
        raise ValueError(f"format {version}, where {_FORMAT} is read")
    words["paths"], words["authors"] = tuple(words["paths"]), tuple(words["authors"])
    return words


def _history(stored: Any) -> History:
    history = History(**_words(stored), **{name: stored[name] for name in _ARRAYS})
    _check(history)
    return history


def _messages(stored: Any) -> Messages | None:
    if "message_terms" not in stored:
        return None
    text = stored["message_terms"].tobytes().decode()
    arrays = {name: stored[f"message_{name}"] for name in _OF_MESSAGES}
    messages = Messages(paths=_words(stored)["paths"], terms=tuple(text.split("\n")) if text else (), **arrays)
    messages.check()
    return messages


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
