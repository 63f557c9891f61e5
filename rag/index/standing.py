"""What readers are told of a generation that is not as it should be: of another model, or in place of one that is damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rag.index.files import verify
from rag.index.manifest import Manifest, model_mismatch, read_dense_part, read_manifest
from rag.types import EmbeddingSpec, GenerationInfo


def read_published(directory: Path) -> Manifest:
    """The manifest of a published generation, with its dense part where that stands. Raises: IndexCorrupt, IndexMismatch (format)."""
    manifest = read_manifest(directory / "sparse" / "manifest.json")
    if not (directory / "dense").is_dir():
        return manifest
    return replace(manifest, dense=read_dense_part(directory / "dense" / "manifest.json"))


def verify_published(directory: Path, manifest: Manifest, *, up_to: int) -> None:
    """Compares the files of both parts with what was written; of those over `up_to` bytes only the size. Raises: IndexCorrupt."""
    verify(directory / "sparse", manifest.files, up_to=up_to)
    if manifest.dense is not None:
        verify(directory / "dense", manifest.dense.files, up_to=up_to)


def described(manifest: Manifest, expected: EmbeddingSpec) -> GenerationInfo:
    """What the generation is to a reader that embeds by `expected`."""
    mismatch = model_mismatch(manifest, expected)
    if not mismatch:
        return manifest.info
    name = manifest.repository
    notice = (
        f"{mismatch} Until it is rebuilt it is searched by words alone. `footnote index {name}` rebuilds it, "
        "and `footnote serve` does when it starts."
    )
    return replace(manifest.info, dense_ready=False, notices=(notice,))


def standing_in(info: GenerationInfo) -> GenerationInfo:
    """What the generation before the current one is while the current one is damaged. No path: readers in Slack are told, too."""
    notice = (
        f"The newest index of {info.repository} is damaged, so the one before it answers: of commit {info.commit[:12]}, "
        f"built {info.built_at:%Y-%m-%d %H:%M} UTC. `footnote index {info.repository}` rebuilds it."
    )
    return replace(info, notices=(notice, *info.notices))
