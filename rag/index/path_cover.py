"""A set of paths said in few words: whole file name endings, whole folders, and what is left by name.

A glob that fits half of a hundred thousand files would make a filter of megabytes. Most globs mean a folder or an ending, and a payload
may hold both. Which words are right is read off the paths of the generation themselves, so that the cover holds the very paths that the
glob fits, whatever the glob's grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cover:
    """A path is meant if its ending, one of its folders or itself is named."""

    endings: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.endings) + len(self.folders) + len(self.paths)


def ending_of(path: str) -> str:
    """What follows the last dot of the name, else "": "py" of "a/b.py"."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2] if "." in name else ""


def folders_of(path: str) -> list[str]:
    """Every folder above: ["a", "a/b"] of "a/b/c.py"."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def cover(fitting: Collection[str], paths: Sequence[str]) -> Cover:
    """Words for `fitting`, a subset of `paths`, that mean no other of `paths`."""
    all_endings, fitting_endings = Counter(map(ending_of, paths)), Counter(map(ending_of, fitting))
    endings = {ending for ending, count in fitting_endings.items() if ending and count > 1 and count == all_endings[ending]}
    rest = [path for path in fitting if ending_of(path) not in endings]
    if not rest:
        return Cover(endings=tuple(sorted(endings)))
    all_folders = Counter(folder for path in paths for folder in folders_of(path))
    fitting_folders = Counter(folder for path in fitting for folder in folders_of(path))
    whole = {folder for folder, count in fitting_folders.items() if count > 1 and count == all_folders[folder]}
    folders: set[str] = set()
    single: list[str] = []
    for path in rest:
        highest = next((folder for folder in folders_of(path) if folder in whole), None)
        if highest is None:
            single.append(path)
        else:
            folders.add(highest)
    return Cover(tuple(sorted(endings)), tuple(sorted(folders)), tuple(sorted(single)))
