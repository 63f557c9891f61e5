"""Where the clone of a repository lies in a directory of clones."""

from __future__ import annotations

from pathlib import Path


def find_clone(directory: Path, repository: str) -> Path | None:
    """The clone of "owner/name" under `directory`: `owner+name`, `owner/name` or `name`, each also with ".git", bare or with a work tree;
    or, in a data directory's `repositories`, its mirror.

    None where there is none.
    """
    owner, _, name = repository.rpartition("/")
    stems = (f"{owner}+{name}", f"{owner}/{name}", name) if owner else (name,)
    for stem in stems:
        for candidate in (directory / stem, directory / f"{stem}.git", directory / stem / "mirror.git"):
            if (candidate / ".git").exists() or ((candidate / "HEAD").is_file() and (candidate / "objects").is_dir()):
                return candidate
    return None
