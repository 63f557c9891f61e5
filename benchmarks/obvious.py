"""The obvious pipeline, as tutorials write it: a recursive character splitter of 1000 characters that overlap by 200, sentence-transformers
as it comes in batches of 32, a vector collection.

`python -m benchmarks.obvious` runs it in a process of its own: what to do is read as JSON from standard input, what it took is printed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHARACTERS = 1000
OVERLAP = 200
BATCH = 32
_SEPARATORS = ("\n\n", "\n", " ", "")


def split(text: str, separators: Sequence[str] = _SEPARATORS) -> list[str]:
    """Pieces of up to CHARACTERS, cut at the first separator that occurs, at finer ones only where a part is still too long; each begins
    with up to OVERLAP characters of the one before it."""
    separator = next(one for one in separators if one in text or not one)
    finer = separators[separators.index(separator) + 1 :]
    chunks: list[str] = []
    held: list[str] = []
    for part in text.split(separator) if separator else list(text):
        if len(part) > CHARACTERS:
            chunks += _joined(held, separator) + split(part, finer)
            held = []
            continue
        if held and len(separator.join([*held, part])) > CHARACTERS:
            chunks += _joined(held, separator)
            while held and (len(separator.join(held)) > OVERLAP or len(separator.join([*held, part])) > CHARACTERS):
                held.pop(0)
        held.append(part)
    return chunks + _joined(held, separator)


def _joined(parts: Sequence[str], separator: str) -> list[str]:
    text = separator.join(parts).strip()
    return [text] if text else []


def collection() -> str:
    """Which one is at hand."""
    return "chromadb" if find_spec("chromadb") else "qdrant-client local"


def main() -> int:
    """Standard input: source (a work tree), home (a directory of its own), model (its files), sample (of the chunks: how many to embed,
    evenly spread; about so many, for the step is whole)."""
    task = json.load(sys.stdin)
    began = _now()
    source = Path(task["source"])
    chunks, places = [], []
    for file in sorted(path for path in source.rglob("*") if path.is_file() and ".git" not in path.relative_to(source).parts):
        pieces = split(file.read_text("utf-8", errors="replace"))
        chunks += pieces
        places += [{"path": str(file.relative_to(source))}] * len(pieces)
    every = max(1, len(chunks) // max(1, int(task["sample"])))

    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(task["model"], device="cpu")
    insert = _chroma(Path(task["home"])) if collection() == "chromadb" else _qdrant(Path(task["home"]))
    loaded = _now()
    vectors = model.encode(chunks[::every], batch_size=BATCH).tolist()
    embedded = _now()
    insert(vectors, chunks[::every], places[::every])
    inserted = _now()
    steps = {"load": (began, loaded), "embed": (loaded, embedded), "insert": (embedded, inserted)}
    took = {
        kind: {step: end[number] - start[number] for step, (start, end) in steps.items()}
        for number, kind in enumerate(("seconds", "processor"))
    }
    sys.stdout.write(json.dumps({"chunks": len(chunks), "embedded": len(vectors), **took}) + "\n")
    return 0


def _now() -> tuple[float, float]:
    """Seconds on the wall, and of all processors for this process."""
    return time.perf_counter(), time.process_time()


Insert = Callable[[list[list[float]], list[str], list[dict[str, str]]], None]
_AT_ONCE = 1000  # rows; chromadb refuses more than about 5,000


def _chroma(home: Path) -> Insert:
    from chromadb import PersistentClient
    from chromadb.config import Settings

    chunks: Any = PersistentClient(str(home), Settings(anonymized_telemetry=False)).create_collection("chunks")

    def insert(vectors: list[list[float]], texts: list[str], places: list[dict[str, str]]) -> None:
        for start in range(0, len(vectors), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            names = [str(row) for row in range(start, start + len(vectors[rows]))]
            chunks.add(ids=names, embeddings=vectors[rows], documents=texts[rows], metadatas=places[rows])

    return insert


def _qdrant(home: Path) -> Insert:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(home))
    size = models.VectorParams(size=384, distance=models.Distance.COSINE)
    client.create_collection("chunks", vectors_config=size)

    def insert(vectors: list[list[float]], texts: list[str], places: list[dict[str, str]]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that so many points had better go to a server
            for start in range(0, len(vectors), _AT_ONCE):
                rows = range(start, min(start + _AT_ONCE, len(vectors)))
                points = [models.PointStruct(id=row, vector=vectors[row], payload={**places[row], "text": texts[row]}) for row in rows]
                client.upsert("chunks", points)
        client.close()

    return insert


if __name__ == "__main__":
    raise SystemExit(main())
