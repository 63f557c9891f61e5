"""`make bench-growth`: builds and reads indexes of growing size, prints a table and draws it."""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SIZES = (1_000, 10_000, 100_000, 300_000)
TIMEOUT = 7200.0  # seconds for one size
EPILOG = """\
Chunks are cut from installed packages' sources; past 20,000 they are varied, a quarter of their identifiers renamed. The first 10,000 are
embedded by the model, further vectors lie beside real ones, for embedding 300,000 takes hours: what it costs is told as chunks a second.
Each size is built by one process and read by another. Nothing is asserted about time, nothing but loopback is reached.

examples:
  python -m benchmarks.growth                           1k, 10k, 100k and 300k chunks: about twenty minutes on two idle cores
  python -m benchmarks.growth --sizes 1000              a quick look that everything works
  python -m benchmarks.growth --sizes 100000 --keep ~/g --json f.json
                                                        in pieces: what is kept is used again, figures are added to the file
  python -m benchmarks.growth --embed                   every vector by the model: hours
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description="Measure building and searching as an index grows.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="N,N,…", help="how many chunks (default: 1000,10000,100000,300000)")
    parser.add_argument("--embed", action="store_true", help="embed every chunk by the model")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the model, the chunks and their vectors here, and use what is there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here, beside those that it holds of other sizes")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw all figures")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    from benchmarks.growth.plot import plot
    from benchmarks.growth.report import panels, table
    from benchmarks.report import busy, machine

    before = machine()
    print(f"{before['cores']} cores, load {before['load']}, Python {before['python']}", flush=True)
    figures: dict[str, Any] = {"embedding": {}, "sizes": {}}
    if options.json and options.json.is_file():
        figures = json.loads(options.json.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="footnote-growth-") as directory:
        data = options.keep or Path(directory)
        figures["embedding"] |= _base(data, max(options.sizes))
        for count in options.sizes:
            started = time.monotonic()
            job = {"data": str(data), "chunks": count, "embed": options.embed}
            found = {**_child("build", job), **_child("read", job), "vectors": _origin(data, count, embed=options.embed)}
            figures["sizes"][str(count)] = found
            print(f"{count:,} chunks: {time.monotonic() - started:.0f} s", file=sys.stderr)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1), "utf-8")
    sizes = [figures["sizes"][key] for key in sorted(figures["sizes"], key=int)]
    print(table(sizes))
    for count, rate in figures["embedding"].items():
        print(f"embedding {int(count):,} chunks by the model: {rate:.0f} chunks/s")
    if options.svg:
        options.svg.write_text(plot(panels(sizes)), "utf-8")
    if warning := busy([before["load"], machine()["load"]], before["cores"]):
        print(warning)
    return 0


def _base(data: Path, count: int) -> dict[str, float]:
    """Makes the chunks that all sizes are grown from, and the real vectors, where `data` has too few. Chunks a second of embedding."""
    import numpy as np

    from benchmarks.growth.material import BASE, EMBEDDED
    from benchmarks.material import Material
    from rag.embedding.models import EmbeddingSettings, load_embedder
    from rag.index.chunk_table import ChunkTable

    chunks, vectors = data / "base" / "chunks", data / "base" / "vectors.npy"
    if not chunks.exists():
        print(f"cutting {BASE:,} chunks", file=sys.stderr)
        ChunkTable.write(chunks, Material().chunks(BASE))
    embedder = load_embedder(EmbeddingSettings(), data / "models")
    wanted = min(count, EMBEDDED)
    if vectors.exists() and len(np.load(vectors, mmap_mode="r")) >= wanted:
        return {}
    texts = [chunk.encoded_text for chunk in ChunkTable.open(chunks).get(range(wanted))]
    print(f"embedding {wanted:,} chunks", file=sys.stderr)
    rates, parts = {}, []
    started = time.perf_counter()
    for part in (texts[:1_000], texts[1_000:]):
        if part:
            parts.append(embedder.embed_documents(part))
            done = sum(map(len, parts))
            rates[str(done)] = done / (time.perf_counter() - started)
    np.save(vectors, np.concatenate(parts))
    return rates


def _origin(data: Path, count: int, *, embed: bool) -> str:
    import numpy as np

    real = count if embed else min(count, len(np.load(data / "base" / "vectors.npy", mmap_mode="r")))
    return "the model's" if real == count else f"{real:,} the model's, the rest beside them"


def _child(module: str, job: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.growth.{module}"],
        input=json.dumps(job) + "\n",
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} of {job['chunks']:,} chunks failed: {done.stderr.strip()[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _sizes(text: str) -> tuple[int, ...]:
    found = tuple(sorted({int(part) for part in text.split(",")}))
    if not found or found[0] < 100:
        raise argparse.ArgumentTypeError("100 at least, separated by commas")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
