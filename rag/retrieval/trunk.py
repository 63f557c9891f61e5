"""Where a repository's own code is: not among its tests, examples and settings, and rather in the directory that holds most of it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rag.index.chunk_table import ChunkTable
from rag.retrieval.matching import Floats
from rag.retrieval.paths import is_data, path_facts
from rag.retrieval.per_index import once_per_index

_ROOT = 0.25  # a directory with a sixteenth of the code still counts half


@once_per_index
def trunk_of(chunks: ChunkTable) -> Floats:
    """(f,) of each file the fourth root of how much ordinary code its top directory holds, in chunks, against the one that holds most: 0 to
    1, 0 for what is no ordinary code. Found once for an index.
    """
    files = chunks.files
    counts = (files.ends - files.starts).tolist()
    held: defaultdict[str, int] = defaultdict(int)
    tops: dict[int, str] = {}
    for number, (path, language) in enumerate(zip(chunks.paths, chunks.languages, strict=True)):
        facts = path_facts(path)
        if not (files.prose[number] or facts.test or facts.example or is_data(language)):
            tops[number] = path.partition("/")[0] if "/" in path else ""
            held[tops[number]] += counts[number]
    shares = np.zeros(len(counts))
    most = max(held.values(), default=1)
    for number, top in tops.items():
        shares[number] = (held[top] / most) ** _ROOT
    return shares
