"""What every dense store shares: which payload a point carries, how a filter reads on it, ties by row, and checks of what is handed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.errors import RetrievalError
from rag.index.files import corrupt
from rag.index.globs import paths_meant
from rag.protocols import Vector
from rag.types import Chunk, Filters

FIELDS = ("language", "kind", "path")
BATCH = 1_000  # points an upsert


@dataclass(frozen=True, slots=True)
class Condition:
    """A field must (or, `excluded`, must not) have one of these values."""

    field: str
    values: tuple[str, ...]
    excluded: bool = False


def payload(chunk: Chunk) -> dict[str, str]:
    """The filtered fields of a chunk, as Qdrant's keyword indexes take them."""
    return {"language": chunk.language, "kind": str(chunk.kind), "path": keyword(chunk.path)}


def keyword(text: str) -> str:
    """`text` as valid UTF-8: bytes of a file name that are none arrive as lone surrogates, which no Rust string can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def conditions(filters: Filters | None, paths: Sequence[str]) -> list[Condition] | None:
    """What a filter asks of the payload; [] where nothing, None where nothing can match. Globs, authors and dates become the set of paths
    that they mean: what the history says of a file is in no payload, where it would go stale."""
    if not filters:
        return []
    asked = [Condition(field, values) for field, values in (("language", filters.language), ("kind", filters.kind)) if values]
    fitting = paths_meant(filters, paths)
    if fitting is None:
        return asked
    if not fitting:
        return None
    if len(fitting) * 2 <= len(paths):
        return [*asked, Condition("path", tuple(sorted(map(keyword, fitting))))]
    # The shorter list is the quicker query.
    rest = tuple(keyword(path) for path in paths if path not in fitting)
    return [*asked, Condition("path", rest, excluded=True)] if rest else asked


def ranked(
    fetch: Callable[[int], Iterable[tuple[int, float]]], limit: int, *, spare: int = 1, most: int | None = None
) -> list[tuple[int, float]]:
    """The best `limit` of what `fetch(count)` brings, best first, ties by row.

    A store cuts a tie where it likes. Fetching until the tie is over makes the answer the same on every store and every run. `spare`: how
    many more than `limit` are fetched at first. `most`: what is fetched at most; in a wider tie the store's cut is taken.
    """
    if limit <= 0:
        return []
    count = limit + spare
    while True:
        found = sorted(fetch(count), key=lambda pair: (-pair[1], pair[0]))
        if len(found) < count or found[-1][1] < found[limit - 1][1] or (most is not None and count >= most):
            return found[:limit]
        count = count * 4 if most is None else min(count * 4, max(most, limit + spare))


def checked_query(vector: Vector, dimension: int) -> list[float]:
    """Raises: RetrievalError for a vector of another dimension or with numbers that are none."""
    if vector.shape != (dimension,):
        raise RetrievalError(
            f"The question's vector has the shape {vector.shape}, the index holds vectors of {dimension} numbers.",
            "Index the repository again with the embedding model that is configured.",
        )
    if not np.isfinite(vector).all():
        raise RetrievalError(
            "The question's vector holds numbers that are not finite.", "Check the embedding model with `footnote doctor`."
        )
    numbers: list[float] = vector.tolist()
    return numbers


def check_rows(vectors: Vector, chunks: Sequence[Chunk]) -> None:
    """Raises: ValueError where rows and chunks do not belong together."""
    if vectors.ndim != 2 or len(vectors) != len(chunks):
        raise ValueError(f"vectors of shape {vectors.shape} for {len(chunks)} chunks")


def write_paths(directory: Path, chunks: Sequence[Chunk]) -> None:
    """Keeps every path once beside the store, for globs."""
    (directory / "paths.json").write_text(json.dumps(list(dict.fromkeys(chunk.path for chunk in chunks))), encoding="ascii")


def read_paths(directory: Path) -> list[str]:
    """Raises: IndexCorrupt."""
    try:
        paths: list[str] = json.loads((directory / "paths.json").read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise corrupt(directory / "paths.json", "cannot be read") from error
    return paths
