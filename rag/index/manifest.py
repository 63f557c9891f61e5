"""What a generation says of itself: which repository, commit, model and chunker, how much, and the checksums of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from rag.errors import IndexMismatch
from rag.index.files import corrupt, write_durably
from rag.types import EmbeddingSpec, GenerationInfo

# Raise it whenever files of a generation are laid out or read differently (terms of the sparse part included).
FORMAT = 2

Files = Mapping[str, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class DensePart:
    """`dense/manifest.json`. `files`: relative to `dense/`, (bytes, checksum), without the store, which can be rebuilt."""

    backend: str
    vectors: int
    dimension: int
    built_at: datetime
    files: Files


@dataclass(frozen=True, slots=True)
class Manifest:
    """`sparse/manifest.json`, and with it the dense part where that stands.

    `recipe`: a hash of all that shapes the chunks but the commit, so that a build can tell that nothing changed.
    `scope`: a hash of globs and root alone. `document_bytes`: characters of text.
    `documents`: what was chunked; `tree_files`: with what was skipped; `skipped`, `fallbacks`: reason -> count.
    `files`: relative to `sparse/`, (bytes, checksum).
    """

    repository: str
    generation: str
    commit: str
    branch: str
    built_at: datetime
    chunker: str
    embedding: EmbeddingSpec
    recipe: str
    scope: str
    documents: int
    document_bytes: int
    tree_files: int
    chunks: int
    skipped: Mapping[str, int]
    fallbacks: Mapping[str, int]
    redactions: int
    files: Files
    dense: DensePart | None = field(default=None)

    @property
    def info(self) -> GenerationInfo:
        return GenerationInfo(
            repository=self.repository,
            generation=self.generation,
            commit=self.commit,
            branch=self.branch,
            built_at=self.built_at,
            documents=self.documents,
            chunks=self.chunks,
            dense_ready=self.dense is not None,
        )


def write_manifest(path: Path, part: Manifest | DensePart) -> None:
    """Durable, and with a checksum of its own. A Manifest's dense part is not written: it has a file of its own."""
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.name != "dense"}
    if isinstance(part, Manifest):
        values["embedding"] = asdict(part.embedding)
    values["built_at"] = part.built_at.isoformat()
    body = json.dumps(values, sort_keys=True, default=dict)
    write_durably(path, json.dumps({"format": FORMAT, "checksum": _digest(body), "body": body}).encode())


def read_manifest(path: Path) -> Manifest:
    """Raises: IndexCorrupt; IndexMismatch for another format."""
    values = _read(path)
    try:
        known = {field.name for field in fields(EmbeddingSpec)}
        values["embedding"] = EmbeddingSpec(**{name: value for name, value in values["embedding"].items() if name in known})
        return Manifest(**_revived(values))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise corrupt(path, "is not a manifest") from error


def read_dense_part(path: Path) -> DensePart:
    """Raises: IndexCorrupt; IndexMismatch for another format."""
    try:
        return DensePart(**_revived(_read(path)))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise corrupt(path, "is not a manifest") from error


def model_mismatch(manifest: Manifest, expected: EmbeddingSpec) -> str:
    """ "" where the index was written by the model that is configured, else a sentence with both names."""
    if manifest.embedding == expected:
        return ""
    return f"The index of {manifest.repository} was written by {_named(manifest.embedding)}, and {_named(expected)} is configured."


def _named(spec: EmbeddingSpec) -> str:
    prompt = f", prompt {spec.document_prompt!r}" if spec.document_prompt else ""
    model = Path(spec.model).name if Path(spec.model).is_absolute() else spec.model  # it is said in Slack
    read = f"{spec.reads} of {spec.window}" if spec.read_tokens else str(spec.window)
    return f"{model} ({spec.backend}, weights {spec.weights_hash[:12]}, {spec.dimension} numbers, {read} tokens{prompt})"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        sealed = json.loads(path.read_bytes())
        written, body, seal = sealed["format"], sealed["body"], sealed["checksum"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise corrupt(path, "cannot be read") from error
    if written != FORMAT:
        raise IndexMismatch(f"The index file {path} has format {written}, and this is format {FORMAT}.", "Index the repository again.")
    if _digest(body) != seal:
        raise corrupt(path, "was altered since it was written")
    values: dict[str, Any] = json.loads(body)
    return values


def _revived(values: dict[str, Any]) -> dict[str, Any]:
    files = {name: (int(size), str(digest)) for name, (size, digest) in values["files"].items()}
    return {**values, "built_at": datetime.fromisoformat(values["built_at"]), "files": files}
