"""What the paths of an index say by themselves, as columns: one entry a file, found once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.chunk_table import ChunkTable
from rag.index.name_words import NameWords
from rag.retrieval.matching import Flags
from rag.retrieval.paths import is_data, path_facts
from rag.retrieval.per_index import once_per_index
from rag.retrieval.platforms import variants
from rag.retrieval.versions import superseded


@dataclass(frozen=True, slots=True)
class PathColumns:
    """Of f files, in the order of their numbers; see `PathFacts`. `words_of_stems`, `words_of_directories`: the words of their names and of
    their directories, and who holds them; `subjects`: the same number for the same. `data`: settings too; `odd`: of no known language, and
    no prose either. `translated`: its original stands here. `superseded`, `variants`: the names of rag.retrieval.versions and platforms, by
    number; `has_newer`, `has_twin`: which files these are.
    """

    stems: Sequence[tuple[str, ...]]
    words_of_stems: NameWords
    words_of_directories: NameWords
    subjects: NDArray[np.int64]
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
    has_newer: Flags
    variants: Mapping[int, frozenset[str]]
    has_twin: Flags


@once_per_index
def columns_of(chunks: ChunkTable) -> PathColumns:
    known, languages = chunks.path_set, chunks.languages
    facts = [path_facts(path) for path in chunks.paths]
    source = np.array([language == "text" and fact.source for language, fact in zip(languages, facts, strict=True)], dtype=np.bool_)
    files = np.arange(len(facts))
    subjects: dict[str, int] = {}
    return PathColumns(
        stems=[fact.stem for fact in facts],
        words_of_stems=NameWords.of_words([fact.stem for fact in facts], files),
        words_of_directories=NameWords.of_words([fact.directories for fact in facts], files),
        subjects=np.array([subjects.setdefault(fact.subject, len(subjects)) for fact in facts], dtype=np.int64),
        test=np.array([fact.test for fact in facts], dtype=np.bool_),
        example=np.array([fact.example for fact in facts], dtype=np.bool_),
        outdated=np.array([fact.outdated for fact in facts], dtype=np.bool_),
        data=np.array([is_data(language) for language in languages], dtype=np.bool_) & ~source,
        odd=np.array([language == "text" for language in languages], dtype=np.bool_) & ~source & ~chunks.files.prose,
        changes=np.array([fact.changes for fact in facts], dtype=np.bool_),
        form=np.array([fact.form for fact in facts], dtype=np.bool_),
        translated=np.array([not known.isdisjoint(fact.untranslated) for fact in facts], dtype=np.bool_),
        levels=np.array([fact.level for fact in facts], dtype=np.int64),
        superseded=(versions := superseded(chunks.paths)),
        has_newer=_flags(versions, len(facts)),
        variants=(platforms := variants(chunks.paths)),
        has_twin=_flags(platforms, len(facts)),
    )


def _flags(numbers: Iterable[int], count: int) -> Flags:
    flags = np.zeros(count, dtype=np.bool_)
    flags[list(numbers)] = True
    return flags
