"""Path globs of a filter, read as in a .gitignore: `*` stays in a directory, `**` crosses them, a name without a slash fits at any depth,
a directory's name stands for all that lies in it. A leading `!` or `#` is an ordinary character here."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pathspec import PathSpec

_one_at_a_time = threading.Lock()


def matching(globs: Sequence[str], paths: Iterable[str]) -> frozenset[str]:
    """Those of `paths` that at least one glob fits. The last few answers are kept: both retrievers of a question ask the same."""
    with _one_at_a_time:  # the second of them waits for what the first finds out
        return _matching(tuple(globs), tuple(paths))


@lru_cache(maxsize=16)
def _matching(globs: tuple[str, ...], paths: tuple[str, ...]) -> frozenset[str]:
    patterns = [f"\\{glob}" if glob.startswith(("!", "#")) else glob for glob in globs]
    return frozenset(PathSpec.from_lines("gitignore", patterns).match_files(paths))
