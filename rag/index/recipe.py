"""Whether an index is of what is configured now: hashes of all that shapes its chunks and vectors but the commit."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import rag.chunking
import rag.source
from rag.chunking import CHUNKER_VERSION, ChunkingSettings
from rag.index.corpus import ENTRIES_FORMAT
from rag.index.manifest import FORMAT
from rag.index.sparse import FORMAT as SPARSE_FORMAT
from rag.types import EmbeddingSpec, Repository


def scope_of(repository: Repository, root: str = "") -> str:
    """Changes with which files are asked for. 16 hexadecimal digits."""
    return _hash([repository.include, repository.exclude, root])


def recipe_of(spec: EmbeddingSpec, chunking: ChunkingSettings, scope: str) -> str:
    """Changes with whatever would make other chunks or vectors of the same commit, the code that reads and cuts included.

    16 hexadecimal digits. Reads that code, a few milliseconds.
    """
    code = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for package in (rag.source, rag.chunking)
        for root in package.__path__
        for path in sorted(Path(root).glob("*.py"))
    ]
    return _hash([FORMAT, SPARSE_FORMAT, ENTRIES_FORMAT, CHUNKER_VERSION, asdict(fitted(chunking, spec)), asdict(spec), scope, code])


def fitted(chunking: ChunkingSettings, spec: EmbeddingSpec) -> ChunkingSettings:
    """No chunk is longer than what the model reads."""
    return replace(chunking, window_tokens=min(chunking.window_tokens, spec.window))


def _hash(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
