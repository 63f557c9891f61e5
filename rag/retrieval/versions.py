"""Versions of one thing side by side, each in a directory of its own: `door/v1`, `door/v2`. The newest is what people mean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set

from rag.retrieval.paths import path_facts, split_version, version_of

_AS_MUCH = 0.5  # of the files of the older one: else the newer one has only been begun


def superseded(paths: Sequence[str]) -> dict[int, str]:
    """Of files that a newer version stands for, or one outside of such directories, the name of their own ("v1"), by place among the
    paths."""
    outside = set(paths)
    places: dict[int, tuple[str, str, tuple[int, ...]]] = {}
    found: dict[int, str] = {}
    sizes: defaultdict[str, defaultdict[tuple[int, ...], int]] = defaultdict(lambda: defaultdict(int))
    for number, path in enumerate(paths):
        split, version = split_version(path), version_of(path)
        if split is None or version is None:
            continue
        above, name, _ = split
        if path_facts(path).unversioned in outside:
            found[number] = name
        places[number] = (above, name, version)
        sizes[above][version] += 1
    for number, (above, name, version) in places.items():
        of = sizes[above]
        if any(other > version and count >= _AS_MUCH * of[version] for other, count in of.items()):
            found[number] = name
    return found


def is_named(version: str, said: Set[str]) -> bool:
    """Whether terms of a question name a version: "v1", or all numbers of "v1.2"."""
    return version in said or ("." in version and all(number in said for number in re.findall(r"\d+", version)))
