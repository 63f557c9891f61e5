"""The part of a build that reads the history. Whatever becomes of it, the index stands; what went wrong is said."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from rag.errors import FootnoteError
from rag.index.corpus import ENTRIES, read_entries
from rag.index.history import HISTORY, nameless, read_history_file, read_messages, write_history
from rag.index.jobs import BuildEvent, BuildJob
from rag.index.layout import Layout
from rag.index.manifest import Manifest
from rag.index.measure import Stopwatch
from rag.index.messages import Messages, MessageTally
from rag.source.history.reading import read_history
from rag.source.history.tally import History

logger = logging.getLogger(__name__)

TIMEOUT = 900.0  # seconds; a hundred thousand commits take about ten


class HistoryPass:
    """`notices`: filled with what the report should say."""

    def __init__(self, job: BuildJob, layout: Layout, on_event: Callable[[BuildEvent], None], watch: Stopwatch) -> None:
        self._job = job
        self._layout = layout
        self._tell = on_event
        self._watch = watch
        self.notices: list[str] = []

    def write(self, home: Path, commit: str, paths: Sequence[str], previous: str) -> None:
        """Puts the history of `paths` at `commit` into the generation's directory `home`; continues that of the generation `previous`.
        Where names are masked, `previous` loses those that it holds."""
        if self._job.history == "none":
            return
        named = self._job.history == "names"
        with self._watch.stage("history"):
            self._tell(BuildEvent("history", 0, 0))
            try:
                former, said = self._former(previous, named)
                tally = MessageTally(paths, said) if named else None  # messages name people
                history = read_history(self._git_dir(), commit, paths, named=named, former=former, listener=tally, timeout=TIMEOUT)
                write_history(home, history, tally.messages() if tally is not None else None)
            except FootnoteError as error:
                self._failed(error.problem)
            except Exception as error:  # nothing that a history holds may cost the index
                logger.warning("%s: its history could not be read", self._job.repository.name, exc_info=True)
                self._failed(f"unexpected {type(error).__name__}.")
            self._tell(BuildEvent("history", 1, 1))

    def renew(self, standing: Manifest) -> None:
        """Writes it for a generation that stands and lacks it or what commits say, or holds names that it should not, or none where it
        should."""
        directory = self._layout.generation(standing.generation)
        held = read_history_file(directory / HISTORY)
        named = self._job.history == "names"
        whole = not named or read_messages(directory / HISTORY) is not None
        if held is not None and held.commit == standing.commit and held.named == named and whole:
            return
        try:
            paths = [entry.path for entry in read_entries(directory / "sparse" / ENTRIES)]
        except FootnoteError as error:
            self._failed(error.problem)
            return
        pointer = self._layout.current()
        self.write(directory, standing.commit, paths, pointer.previous if pointer is not None else "")

    def _former(self, previous: str, named: bool) -> tuple[History | None, Messages | None]:
        """What the pass may continue: of both or of nothing, for what one lacks all of the history must be read."""
        if not previous:
            return None, None
        directory = self._layout.generation(previous)
        former = read_history_file(directory / HISTORY)
        if not named:
            if former is not None and former.named:
                write_history(directory, nameless(former))
            return former, None
        said = read_messages(directory / HISTORY)
        return (former, said) if said is not None else (None, None)

    def _git_dir(self) -> Path:
        if not self._job.source_git_dir:
            return self._layout.mirror
        clone = Path(self._job.source_git_dir).absolute()
        return clone / ".git" if (clone / ".git").exists() else clone

    def _failed(self, why: str) -> None:
        notice = f"The history could not be read, so authors and dates are not known until the next build: {why}"
        logger.warning("%s: %s", self._job.repository.name, notice)
        self.notices.append(notice)
