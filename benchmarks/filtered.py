"""Dense queries under filters, beside the same without any: a filter is inside the query and should cost no more than it saves."""

from __future__ import annotations

from functools import partial

from benchmarks.dense import QUERIES, TOP, ask, unit_rows
from benchmarks.frame import Bench, Measure, compared
from rag.index.dense_edge import EdgeBackend
from rag.types import Chunk, Filters, Kind

COUNT = 50_000
BASE = "no filter"
FILTERS = {
    BASE: None,
    "a language of four": Filters(language=("go",)),
    "a folder of forty": Filters(path=("part3/**",)),
    "a glob, a quarter of the paths": Filters(path=("**/layer[0-1]/**",)),
    "a kind, two languages of four": Filters(kind=("function",), language=("rust", "go")),
}
_LANGUAGES = ("python", "go", "rust", "java")
_CHUNKS_PER_FILE = 10


def run(bench: Bench) -> list[Measure]:
    chunks = synthesised(bench.sized(COUNT))
    vectors, queries = unit_rows(len(chunks)), unit_rows(QUERIES)
    bench.progress(f"inserting {len(chunks):,} vectors")
    backend = EdgeBackend()
    home = bench.directory / "filtered"
    backend.create(home, vectors, chunks)
    store = backend.open(home)
    try:
        sides = {name: partial(ask, store, queries, asked) for name, asked in FILTERS.items()}
        return [compared(f"query, {len(chunks):,} vectors, best {TOP}", "ms", bench.in_turn("query", sides), BASE)]
    finally:
        store.close()


def synthesised(count: int) -> list[Chunk]:
    """Chunks whose paths, languages and kinds the filters divide as they say."""
    return [_chunk(number // _CHUNKS_PER_FILE, number % _CHUNKS_PER_FILE) for number in range(count)]


def _chunk(file: int, place: int) -> Chunk:
    path = f"part{file % 40}/layer{file % 8}/file{file}.py"
    return Chunk(path, 5 * place + 1, 5 * place + 5, Kind.FUNCTION if place % 2 else Kind.CLASS, _LANGUAGES[file // 8 % 4], "x")
