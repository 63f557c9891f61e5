"""What the paths of an index say by themselves, as columns: one entry a file, found once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.retrieval.matching import Flags
from rag.retrieval.paths import is_data, path_facts
from rag.retrieval.per_index import once_per_index
from rag.retrieval.platforms import variants
from rag.retrieval.versions import superseded


@dataclass(frozen=True, slots=True)
class PathColumns:
    """Of f files, in the order of their numbers; see `PathFacts`. `data`: settings too; `odd`: of no known language, and no prose either.
    `translated`: its original stands here. `superseded`, `variants`: see rag.retrieval.versions and platforms, by number.
    """

    stems: Sequence[tuple[str, ...]]
    directories: Sequence[tuple[str, ...]]
    subjects: Sequence[str]
    test: Flags
    example: Flags
    outdated: Flags
    data: Flags
    odd: Flags
    changes: Flags
    form: Flags
    translated: Flags
    levels: NDArray[np.int64]
    superseded: Mapping[int, str]
    variants: Mapping[int, frozenset[str]]


@once_per_index
def columns_of(chunks: ChunkTable) -> PathColumns:
    known, languages = chunks.path_set, chunks.languages
    facts = [path_facts(path) for path in chunks.paths]
    source = np.array([language == "text" and fact.source for language, fact in zip(languages, facts, strict=True)], dtype=np.bool_)
    return PathColumns(
        stems=[fact.stem for fact in facts],
        directories=[fact.directories for fact in facts],
        subjects=[fact.subject for fact in facts],
        test=np.array([fact.test for fact in facts], dtype=np.bool_),
        example=np.array([fact.example for fact in facts], dtype=np.bool_),
        outdated=np.array([fact.outdated for fact in facts], dtype=np.bool_),
        data=np.array([is_data(language) for language in languages], dtype=np.bool_) & ~source,
        odd=np.array([language == "text" for language in languages], dtype=np.bool_) & ~source & ~chunks.files.prose,
        changes=np.array([fact.changes for fact in facts], dtype=np.bool_),
        form=np.array([fact.form for fact in facts], dtype=np.bool_),
        translated=np.array([not known.isdisjoint(fact.untranslated) for fact in facts], dtype=np.bool_),
        levels=np.array([fact.level for fact in facts], dtype=np.int64),
        superseded=superseded(chunks.paths),
        variants=variants(chunks.paths),
    )
