"""Where the parts of a repository's index lie, and the one pointer that says which generation is read.

build.lock            who builds
mirror.git/           rag.source
current               {"generation": …, "previous": …}, replaced atomically
generations/<id>/     pin, sparse/, dense/, history.npz
generations/<id>.partial/   a generation that is being written; a leftover unless build.lock is held
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag.index.files import corrupt, sync_directory, write_durably
from rag.index.locks import unpinned

logger = logging.getLogger(__name__)

_ID = re.compile(r"[0-9]{8}T[0-9]{6}(?:[0-9]{6})?-[0-9a-f]{8}-[0-9a-f]{6}")  # whole seconds: what the first builds wrote


@dataclass(frozen=True, slots=True)
class Pointer:
    """`previous` is kept for readers that still have it open, "" where there is none."""

    generation: str
    previous: str = ""


class Layout:
    """Paths of one repository's directory, and the moves that builder and readers agree on."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.mirror = directory / "mirror.git"
        self.generations = directory / "generations"
        self._pointer = directory / "current"

    def generation(self, name: str) -> Path:
        return self.generations / name

    def partial(self, name: str) -> Path:
        return self.generations / f"{name}.partial"

    def current(self) -> Pointer | None:
        """None where nothing was published yet. Raises: IndexCorrupt."""
        try:
            raw = self._pointer.read_bytes()
        except FileNotFoundError:
            return None
        try:
            values = json.loads(raw)
            pointer = Pointer(str(values["generation"]), str(values.get("previous", "")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise corrupt(self._pointer, "is not a pointer to a generation") from error
        if not _ID.fullmatch(pointer.generation) or not (pointer.previous == "" or _ID.fullmatch(pointer.previous)):
            raise corrupt(self._pointer, "names no generation")
        return pointer

    def publish(self, name: str, previous: str) -> None:
        """Swaps the pointer. The generation and its name must be durable already."""
        write_durably(self._pointer, json.dumps({"generation": name, "previous": previous}).encode())

    def withdraw(self) -> None:
        """From now on there is no index to open."""
        self._pointer.unlink(missing_ok=True)
        sync_directory(self.directory)

    def promote(self, name: str) -> Path:
        """Gives a durable partial generation its name."""
        self.partial(name).rename(self.generation(name))
        sync_directory(self.generations)
        return self.generation(name)

    def clean(self, keep: Pointer | None) -> list[str]:
        """Deletes what killed builds left and generations that are neither kept nor pinned. Returns the names of what went.

        Only for the holder of build.lock.
        """
        kept = {keep.generation, keep.previous} if keep else set()
        gone: list[str] = []
        for entry in sorted(self.generations.iterdir()) if self.generations.is_dir() else ():
            if entry.name in kept:
                for leftover in entry.glob("dense.partial"):
                    shutil.rmtree(leftover)
                    gone.append(f"{entry.name}/dense.partial")
                for draft in entry.glob(".history.npz.*"):
                    draft.unlink(missing_ok=True)
            elif not _ID.fullmatch(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
                gone.append(entry.name)
            elif self._retire(entry):
                shutil.rmtree(self.generations / _trash(entry.name), ignore_errors=True)
                gone.append(entry.name)
        if gone:
            logger.info("%s: deleted %d old or unfinished generations", self.directory.name, len(gone))
        return gone

    def _retire(self, generation: Path) -> bool:
        with unpinned(generation / "pin") as free:
            if free:
                generation.rename(self.generations / _trash(generation.name))
            return free


def new_generation(built_at: datetime, commit: str) -> str:
    """A name that sorts by time, to the microsecond: "20261129T213300123456-<commit>-<random>"."""
    return f"{built_at:%Y%m%dT%H%M%S%f}-{commit[:8]}-{secrets.token_hex(3)}"


def _trash(name: str) -> str:
    return f".trash-{name}"
