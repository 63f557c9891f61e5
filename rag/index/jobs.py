"""What a build is asked and what it tells, as values, and as JSON between the processes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from rag.chunking.settings import ChunkingSettings
from rag.embedding.models import EmbeddingSettings
from rag.types import Repository


@dataclass(frozen=True, slots=True)
class BuildJob:
    """`commit`: instead of the branch's head. `root`: index only what lies below this folder.

    `source_git_dir`: read this clone as it is and mirror nothing. `threads`: of the embedding model, 0 for its own default.
    `force`: build even if nothing changed, and accept any loss. `private_hosts`: hosts inside a network that may be cloned from.
    `history`: what is kept of who changed what: names, dates and the terms of messages; dates alone; or nothing.
    """

    repository: Repository
    data_dir: Path
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    commit: str = ""
    root: str = ""
    source_git_dir: str = ""
    threads: int = 0
    force: bool = False
    private_hosts: tuple[str, ...] = ()
    history: Literal["names", "dates", "none"] = "names"


@dataclass(frozen=True, slots=True)
class BuildEvent:
    """`stage`: clone, read, chunk, sparse, embed, dense, history, publish; "sparse_ready" when questions can be answered.

    `total`: 0 where unknown.
    """

    stage: str
    done: int
    total: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """`seconds`: by stage, and "total". `embedded`, `reused`: chunks whose vector was computed, or taken from the cache.

    `peak_memory_bytes`: builder and its workers together. `unchanged`: nothing was built, the figures are those of the index that stands.
    `notices`: what went wrong without harm to the index.
    """

    repository: str
    commit: str
    branch: str
    generation: str
    documents: int
    chunks: int
    embedded: int
    reused: int
    skipped: Mapping[str, int]
    fallbacks: Mapping[str, int]
    seconds: Mapping[str, float]
    peak_memory_bytes: int
    unchanged: bool = False
    notices: Sequence[str] = ()


def job_to_json(job: BuildJob) -> str:
    """One line."""
    return json.dumps({**asdict(job), "data_dir": str(job.data_dir)})


def job_from_json(line: str) -> BuildJob:
    """The reverse of `job_to_json`."""
    values: dict[str, Any] = _with_tuples(json.loads(line))
    values["repository"] = Repository(**_with_tuples(values["repository"]))
    values["embedding"] = EmbeddingSettings(**_with_tuples(values["embedding"]))
    values["chunking"] = ChunkingSettings(**_with_tuples(values["chunking"]))
    values["data_dir"] = Path(values["data_dir"])
    return BuildJob(**values)


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
