"""Path globs of a filter, read as in a .gitignore: `*` stays in a directory, `**` crosses them, a name without a slash fits at any depth,
a directory's name stands for all that lies in it. A leading `!` or `#` is an ordinary character here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pathspec import PathSpec


def matching(globs: Sequence[str], paths: Iterable[str]) -> set[str]:
    """Those of `paths` that at least one glob fits."""
    patterns = [f"\\{glob}" if glob.startswith(("!", "#")) else glob for glob in globs]
    return set(PathSpec.from_lines("gitignore", patterns).match_files(paths))
