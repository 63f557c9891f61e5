"""Versions of one thing side by side, each in a directory of its own: `door/v1`, `door/v2`. The newest is what people mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rag.retrieval.paths import path_facts, version_of

_AS_MUCH = 0.5  # of the files of the older one: else the newer one has only been begun


def superseded(paths: Sequence[str]) -> dict[int, str]:
    """Of files that a newer version stands for, or one outside of such directories, the name of their own ("v1"), by place among the
    paths."""
    outside = set(paths)
    places: dict[int, tuple[str, int]] = {}
    found: dict[int, str] = {}
    sizes: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for number, path in enumerate(paths):
        version = version_of(path)
        if version is None:
            continue
        if path_facts(path).unversioned in outside:
            found[number] = f"v{version}"
        above = path[: path.index(f"v{version}/")]
        places[number] = (above, version)
        sizes[above][version] += 1
    for number, (above, version) in places.items():
        of = sizes[above]
        if any(other > version and count >= _AS_MUCH * of[version] for other, count in of.items()):
            found[number] = f"v{version}"
    return found
