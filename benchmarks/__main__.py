"""`python -m benchmarks`: runs them and prints figures and ratios."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

BENCHMARKS = {
    "sparse": "BM25 queries and builds: our sparse matrix beside rank_bm25",
    "dense": "vector queries, filtered and not: qdrant-edge beside qdrant-client's local mode",
    "filtered": "vector queries among 50,000 by language, folder, glob, kind: beside the unfiltered one",
    "forms": "BM25 over both forms of the terms, 200,000 chunks, median and 99th percentile: beside one form",
    "question": "a whole question, 50,000 chunks, embedding included, p50 and p99: beside rank_bm25, a matrix product and RRF",
    "embedding": "chunks a second and milliseconds a question: onnx int8, fp32 and static beside sentence-transformers as it comes",
    "build": "a repository's index: chunks a second by stage, peak memory, full beside incremental with 1 % of the files changed",
    "pipeline": "our index beside the obvious pipeline's (splitter 1000/200, sentence-transformers, chromadb): seconds, peak memory",
    "first_answer": "seconds from footnote index to the first answer, 3,000 files, nothing prepared: beside git clone and git grep",
    "startup": "footnote --help, footnote search by itself and beside a running owner, footnote serve until it is ready",
    "rebuild": "footnote search through a running bot: at rest, and while the bot builds the index of another repository",
}

EPILOG = """\
benchmarks:
{names}

Each figure is the median of several rounds, in which the sides ran in turn. Read the ratios: they hold on a busy machine and on another
one, the seconds do not. Nothing is asserted about time, nothing but loopback is reached, all files are in a temporary directory.

examples:
  python -m benchmarks                                the default run, sized for about eight minutes on two idle cores
  python -m benchmarks --only sparse --only dense     some of them
  python -m benchmarks --scale 0.1 --rounds 1         a quick look that everything works
  python -m benchmarks --only dense --scale 10        30,000 vectors instead of 3,000
  python -m benchmarks --repos ~/clones --only build  real clones: each is built --rounds times, so this takes as long as they are large
  python -m benchmarks --json > figures.json          for programs; the table goes to standard error
"""


def main() -> int:
    names = "\n".join(f"  {name:<13}{about}" for name, about in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Footnote beside what it could have used instead, in the same run.",
        epilog=EPILOG.format(names=names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(BENCHMARKS), metavar="NAME", help="this benchmark; may be repeated")
    parser.add_argument("--repos", type=Path, metavar="DIR", help="measure on the git clones in DIR instead of installed packages' sources")
    parser.add_argument("--rounds", type=_at_least_one, default=3, help="how often each side runs (default: 3)")
    parser.add_argument("--scale", type=_positive, default=1.0, help="of all sizes: chunks, vectors, files (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON on standard output, the table on standard error")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    from benchmarks.frame import Bench, Measure  # heavy: `--help` must not wait for it
    from benchmarks.material import Material, find_clones
    from benchmarks.report import as_json, as_lines, busy, machine
    from rag.errors import FootnoteError

    clones = find_clones(options.repos) if options.repos else ()
    if options.repos and not clones:
        parser.error(f"there is no git clone in {options.repos}; name the directory that holds them")
    material = Material(clones)
    table = sys.stderr if options.json else sys.stdout
    before = machine()
    print(
        f"{before['cores']} cores, load {before['load']}, Python {before['python']}; on {material.name}; {options.rounds} rounds",
        file=table,
    )
    results: dict[str, list[Measure]] = {}
    seconds: dict[str, float] = {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as directory:
        bench = Bench(Path(directory), material, options.rounds, options.scale, options.quiet)
        for name in options.only or BENCHMARKS:
            started = time.monotonic()
            bench.begin(name)
            try:
                results[name] = import_module(f"benchmarks.{name}").run(bench)
            except (FootnoteError, ImportError) as error:  # a wheel that this platform lacks, a clone that cannot be read
                bench.end()
                failed.append(name)
                print(f"\n{name} did not run: {error}", file=sys.stderr)
                continue
            seconds[name] = time.monotonic() - started
            bench.end()
            print("\n".join(as_lines(f"{name} ({seconds[name]:.0f} s)", results[name])), file=table, flush=True)
    after = machine()["load"]
    print(f"\n{sum(seconds.values()):.0f} s in all; load at the end {after}", file=table)
    if warning := busy([before["load"], after], before["cores"]):
        print(warning, file=table)
    if options.json:
        print(json.dumps(as_json(results, seconds, before), indent=2))
    return 1 if failed else 0


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1000:
        raise argparse.ArgumentTypeError("above 0 and below 1000")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
