"""Every file of a repository at the commit that is indexed, and why it is or is not in the index: read back from what the build kept.

Nothing is read from git and no model is asked, so the list costs little and cannot disagree with the index that answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rag.errors import NotIndexed
from rag.index.corpus import ENTRIES, DocumentEntry, read_entries
from rag.index.files import corrupt, verify
from rag.index.layout import Layout
from rag.index.locks import Pin
from rag.index.manifest import read_manifest
from rag.types import GenerationInfo

_TRIES = 20


@dataclass(frozen=True, slots=True)
class Listing:
    """`entries`: by path, one for each that `git ls-tree -r` names (below the indexed folder, if one was given).

    `complete`: whether language and fallback of each file were written down, which builds of older versions did not do.
    """

    info: GenerationInfo
    entries: tuple[DocumentEntry, ...]
    complete: bool

    @property
    def skipped(self) -> Mapping[str, int]:
        """Reason -> files left out for it, the most frequent first."""
        return dict(Counter(entry.reason for entry in self.entries if entry.reason).most_common())

    @property
    def fallbacks(self) -> Mapping[str, int]:
        """Reason -> files cut by lines for it, the most frequent first."""
        return dict(Counter(entry.fallback for entry in self.entries if entry.fallback).most_common())


def read_listing(layout: Layout) -> Listing:
    """The list of the current generation, whichever model it was written by. Blocks for a moment.

    Raises: NotIndexed, IndexMismatch (another format), IndexCorrupt.
    """
    for _ in range(_TRIES):
        pointer = layout.current()
        if pointer is None:
            name = layout.directory.name
            raise NotIndexed(f"{name} is not indexed yet.", f"Index it first: footnote index {name}")
        directory = layout.generation(pointer.generation)
        try:
            pin = Pin(directory / "pin")
        except FileNotFoundError:
            if layout.current() == pointer:
                raise corrupt(directory, "is missing, though it is the current generation") from None
            continue  # deleted between the look at the pointer and the pin: look again
        try:
            return _read(directory)
        finally:
            pin.release()
    raise corrupt(layout.directory, "changes faster than it can be read")


def _read(directory: Path) -> Listing:
    manifest = read_manifest(directory / "sparse" / "manifest.json")
    path = directory / "sparse" / ENTRIES
    if ENTRIES not in manifest.files:
        raise corrupt(path, "is not in the manifest")
    verify(path.parent, {ENTRIES: manifest.files[ENTRIES]})
    entries = tuple(sorted(read_entries(path), key=lambda entry: entry.path))  # the chunker reads ahead, so they lie otherwise
    indexed = sum(not entry.reason for entry in entries)
    if (len(entries), indexed, sum(entry.chunks for entry in entries)) != (manifest.tree_files, manifest.documents, manifest.chunks):
        raise corrupt(path, "does not list what the manifest counts")
    info = replace(manifest.info, dense_ready=(directory / "dense").is_dir())
    return Listing(info, entries, complete=all(entry.language for entry in entries if not entry.reason))
