"""Versions of one thing side by side, each in a directory of its own: `door/v1`, `door/v2`. The newest is what people mean."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from rag.index.chunk_table import ChunkTable
from rag.retrieval.paths import path_facts, version_of

_AS_MUCH = 0.5  # of the files of the older one: else the newer one has only been begun
_known: WeakKeyDictionary[ChunkTable, dict[int, str]] = WeakKeyDictionary()
_lock = threading.Lock()


def superseded_in(chunks: ChunkTable) -> dict[int, str]:
    """Of files that a newer version stands for, the name of their own ("v1"), by number. Found once for an index."""
    with _lock:
        known = _known.get(chunks)
    if known is None:
        known = superseded(chunks.paths)
        with _lock:
            _known[chunks] = known
    return known


def superseded(paths: Sequence[str]) -> dict[int, str]:
    """The same of paths. A version outside of such directories stands for all of them."""
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
