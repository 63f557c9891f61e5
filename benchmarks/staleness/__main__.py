"""`make bench-staleness`: changes a repository, asks before and after the incremental build, and counts answers that cite what is gone."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

EPILOG = """\
Twenty changes are committed to a copy: functions renamed, moved to another file, given a parameter; classes added; modules deleted. Each
is asked about while the index is still the old one, and again after the incremental build. A citation is judged at the new head: its file
must be there and its lines must hold the text that was cited. Answers come from the extractive generator, through the pipeline that Slack
asks.

Exit status 1 if an answer after the build cites what is gone, if none did before it (then nothing was measured), or if the incremental
index differs from one built from nothing. Nothing but loopback is reached; all files are in a temporary directory.

examples:
  python -m benchmarks.staleness                        about 3,000 chunks of installed packages' sources
  python -m benchmarks.staleness --scale 0.5            a quick look
  python -m benchmarks.staleness --repos ~/clones       copies of the git clones in there, one after the other
  python -m benchmarks.staleness --answers              every question with what its answers cite
"""
CHUNKS = 3_000
LONGEST = 4_000  # characters of a file: many small files, so that a hundredth of them holds twenty changes


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.staleness",
        description="Count answers that cite code that is gone, before and after an incremental build.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repos", type=Path, metavar="DIR", help="copies of the git clones in DIR instead of installed packages' sources")
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of chunks, without --repos (default: 1)")
    parser.add_argument("--answers", action="store_true", help="print every question and what its answers cite")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    options = parser.parse_args()
    if not 0 < options.scale < 100:
        parser.error("--scale is above 0 and below 100")
    logging.basicConfig(level=logging.ERROR)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    from benchmarks.material import find_clones, make_repository, small_files  # heavy: `--help` must not wait for it
    from benchmarks.report import busy, machine
    from benchmarks.staleness.report import failures, lines
    from benchmarks.staleness.trial import copy_of, run
    from rag.errors import FootnoteError

    clones = find_clones(options.repos) if options.repos else ()
    if options.repos and not clones:
        parser.error(f"there is no git clone in {options.repos}; name the directory that holds them")
    before = machine()
    print(f"{before['cores']} cores, load {before['load']}, Python {before['python']}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="footnote-staleness-") as temporary:
        home = Path(temporary)
        for number, clone in enumerate(clones or (None,)):
            name = clone.name.removesuffix(".git") if clone else "synthesised"
            directory = home / str(number)
            directory.mkdir()
            try:
                source = directory / "source"
                if clone:
                    copy_of(clone, source)
                else:
                    make_repository(source, small_files(round(CHUNKS * options.scale), LONGEST))
                outcome = asyncio.run(run(source, name, directory, home / "models", _progress(name, options.quiet)))
            except FootnoteError as error:
                print(f"\n{name} could not be measured: {error}", file=sys.stderr)
                failed = True
                continue
            print("\n".join(lines(outcome, answers=options.answers)), flush=True)
            failed = failed or bool(failures(outcome))
    after = machine()["load"]
    print(f"\nload at the end {after}")
    if warning := busy([before["load"], after], before["cores"]):
        print(warning)
    return 1 if failed else 0


def _progress(name: str, quiet: bool) -> Callable[[str], None]:
    def tell(message: str) -> None:
        if not quiet:
            line = f"{name}: {message}"
            sys.stderr.write(f"\r\x1b[2K{line[:150]}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()

    return tell


if __name__ == "__main__":
    raise SystemExit(main())
