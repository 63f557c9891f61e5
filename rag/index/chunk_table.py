"""The chunks of a generation on disk: rows 0..n-1, read through a memory map, so that opening costs nothing and no lock is needed."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import IndexCorrupt
from rag.index.defined_names import DefinedNames
from rag.index.file_rows import Files
from rag.index.files import corrupt
from rag.index.globs import paths_meant
from rag.types import Chunk, Filters, Kind, is_prose

_FIELDS = tuple(field.name for field in fields(Chunk))
_KIND = _FIELDS.index("kind")
_COLUMNS = ("path", "language", "kind")


class ChunkTable:
    """A read-only sequence of chunks with columns to filter on. Threads may share it.

    A directory of files: `records.bin` (one JSON array a chunk, its fields in order), `offsets.npy` ((n + 1,) int64, bytes),
    `columns.npy` ((n, 3) int32: numbers of path, language and kind), `names.json` (what these numbers stand for), and the names that each
    chunk defines, by themselves, for a ranking reads those of many chunks: `defines.bin`, `defines_ends.npy` (rag.index.defined_names).
    """

    def __init__(
        self,
        records: mmap.mmap | bytes,
        offsets: NDArray[np.int64],
        columns: NDArray[np.int32],
        names: dict[str, list[str]],
        defines: DefinedNames,
    ) -> None:
        self._records = records
        self._offsets = offsets
        self._columns = columns
        self._names = names
        self.defines = defines

    @classmethod
    def write(cls, path: Path, chunks: Iterable[Chunk]) -> None:
        """Writes the directory `path`, which must not exist. Not fsync'd: the builder does that for the whole part."""
        path.mkdir(parents=True)
        offsets = [0]
        numbers: dict[str, dict[str, int]] = {column: {} for column in _COLUMNS}
        columns: list[tuple[int, ...]] = []
        defined: list[tuple[str, ...]] = []
        with (path / "records.bin").open("wb") as file:
            for chunk in chunks:
                # Names and lines may hold bytes that are no UTF-8, as lone surrogates.
                record = json.dumps([getattr(chunk, name) for name in _FIELDS], ensure_ascii=False).encode("utf-8", "surrogatepass")
                file.write(record)
                offsets.append(offsets[-1] + len(record))
                defined.append(chunk.defines)
                values = (chunk.path, chunk.language, str(chunk.kind))
                columns.append(
                    tuple(numbers[column].setdefault(value, len(numbers[column])) for column, value in zip(_COLUMNS, values, strict=True))
                )
        np.save(path / "offsets.npy", np.array(offsets, dtype=np.int64))
        np.save(path / "columns.npy", np.array(columns, dtype=np.int32).reshape(len(columns), len(_COLUMNS)))
        DefinedNames.write(path, defined)
        names = {column: list(numbers[column]) for column in _COLUMNS}
        (path / "names.json").write_bytes(json.dumps(names, ensure_ascii=True).encode())

    @classmethod
    def open(cls, path: Path) -> ChunkTable:
        """Raises: IndexCorrupt."""
        try:
            offsets = np.load(path / "offsets.npy", allow_pickle=False)
            columns = np.load(path / "columns.npy", allow_pickle=False)
            names = json.loads((path / "names.json").read_bytes())
            defines = DefinedNames.open(path)
            records: mmap.mmap | bytes = b""
            if (path / "records.bin").stat().st_size:
                with (path / "records.bin").open("rb") as file:
                    records = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, EOFError) as error:
            raise corrupt(path, f"cannot be read ({error})") from error
        if len(columns) != len(offsets) - 1 or int(offsets[-1]) != len(records) or len(defines) != len(columns):
            raise corrupt(path, "does not hold as many chunks as it should")
        return cls(records, offsets, columns, names, defines)

    def __len__(self) -> int:
        return len(self._columns)

    def get(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of these rows, in the order given. Raises: IndexError, IndexCorrupt."""
        return [self._read(row) for row in rows]

    def written(self, row: int) -> bytes:
        """What is stored of a chunk, in UTF-8 and lower case as far as ASCII goes: to look for words in without reading it."""
        return bytes(self._records[int(self._offsets[row]) : int(self._offsets[row + 1])]).lower()

    def all(self) -> Iterator[Chunk]:
        """Every chunk, in row order."""
        return (self._read(row) for row in range(len(self)))

    @property
    def paths(self) -> Sequence[str]:
        """Each path once, in the order of its first chunk; `path_numbers` index into it."""
        return self._names["path"]

    @property
    def path_numbers(self) -> NDArray[np.int32]:
        """(n,) int32: the number of each row's path in `paths`."""
        numbers: NDArray[np.int32] = self._columns[:, 0]
        return numbers

    @cached_property
    def path_set(self) -> frozenset[str]:
        return frozenset(self.paths)

    @cached_property
    def files(self) -> Files:
        """Which rows are whose, and which of them are prose."""
        prose = [is_prose(path, language) for path, language in zip(self.paths, self.languages, strict=True)]
        return Files.of(self.path_numbers, len(self.paths), np.array(prose, dtype=np.bool_)[self.path_numbers])

    @cached_property
    def languages(self) -> Sequence[str]:
        """The language of each file, in the order of `paths`."""
        first = np.unique(self.path_numbers, return_index=True)[1]
        return [self._names["language"][number] for number in self._columns[first, 1].tolist()]

    def mask(self, filters: Filters) -> NDArray[np.bool_] | None:
        """(n,) bool, True for rows that may be found; None where nothing is filtered."""
        if not filters:
            return None
        allowed = (
            paths_meant(filters, self.paths),
            set(filters.language) or None,
            set(filters.kind) or None,
        )
        rows = np.ones(len(self), dtype=np.bool_)
        for number, (column, values) in enumerate(zip(_COLUMNS, allowed, strict=True)):
            if values is not None:
                wanted = np.array([name in values for name in self._names[column]], dtype=np.bool_)
                rows &= wanted[self._columns[:, number]]
        return rows

    def _read(self, row: int) -> Chunk:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        record = self._records[int(self._offsets[row]) : int(self._offsets[row + 1])]
        try:
            values: list[Any] = json.loads(record.decode("utf-8", "surrogatepass"))
            if len(values) != len(_FIELDS):
                raise ValueError("a field is missing")
            values = [tuple(value) if type(value) is list else value for value in values]
            values[_KIND] = Kind(values[_KIND])
            return Chunk(*values)
        except (ValueError, TypeError) as error:
            raise IndexCorrupt(f"Chunk {row} of the index cannot be read.", "Index the repository again with --force.") from error
