"""Path globs of a filter, read as in a .gitignore: `*` stays in a directory, `**` crosses them, a name without a slash fits at any depth,
a directory's name stands for all that lies in it. A leading `!` or `#` is an ordinary character here."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pathspec import PathSpec

from rag.errors import RetrievalError
from rag.types import Filters

_one_at_a_time = threading.Lock()


def paths_meant(filters: Filters, paths: Sequence[str]) -> frozenset[str] | None:
    """Those of `paths` that a filter leaves, by its globs and by the history; None where it asks for no path.

    Raises: RetrievalError where the history was not asked yet (rag.index.history_filter): a filter is never left out in silence.
    """
    if filters.by_history and filters.files is None:
        raise RetrievalError("A filter by author or date came to a store unresolved.", "Report this as a fault of the retriever.")
    fitting = matching(filters.path, paths) if filters.path else None
    if filters.files is None:
        return fitting
    return filters.files.intersection(paths if fitting is None else fitting)


def matching(globs: Sequence[str], paths: Iterable[str]) -> frozenset[str]:
    """Those of `paths` that at least one glob fits. The last few answers are kept: both retrievers of a question ask the same."""
    with _one_at_a_time:  # the second of them waits for what the first finds out
        return _matching(tuple(globs), tuple(paths))


@lru_cache(maxsize=16)
def _matching(globs: tuple[str, ...], paths: tuple[str, ...]) -> frozenset[str]:
    patterns = [f"\\{glob}" if glob.startswith(("!", "#")) else glob for glob in globs]
    return frozenset(PathSpec.from_lines("gitignore", patterns).match_files(paths))
