"""`python -m benchmarks.retrieval`: prints the table of targets."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path

GET = """\
Measuring retrieval needs labelled questions and clones of the repositories that they are about:

  make bench-retrieval BENCH=DIR REPOS=DIR

BENCH holds concept.jsonl, change.jsonl, pinpoint.jsonl, explain.jsonl, issue.jsonl (any of them); docs/retrieval.md describes the format,
and `footnote eval generate` makes a set of your own. REPOS holds a clone of each repository, named owner+name, owner/name or name.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval", description="The targets of retrieval, and whether they are met."
    )
    parser.add_argument("--bench", type=Path, metavar="DIR", help="folder of question files")
    parser.add_argument("--repos", type=Path, metavar="DIR", help="folder of clones")
    parser.add_argument(
        "--only",
        action="append",
        metavar="SET",
        help="concept-root, concept, change, pinpoint, explain, issue (one list; with -code behind it, as change-code, code's group), "
        "documentation, documentation-list, setup (questions about settings, kept here), quoted (messages and keys of the code); may be "
        "repeated",
    )
    parser.add_argument("--standing", action="store_true", help="ask only what is indexed already; else the first run embeds for hours")
    parser.add_argument("--commits", type=int, default=None, help="of each repository in change and issue (default: 3; 0: all)")
    parser.add_argument("--save-documentation", type=Path, metavar="FILE", help="write the documentation questions there")
    parser.add_argument("--json", action="store_true", help="print JSON on standard output, the table on standard error")
    options = parser.parse_args()
    if options.bench is None or not options.bench.is_dir():
        sys.stderr.write(GET)
        return 2
    if options.repos is None or not options.repos.is_dir():
        sys.stderr.write(GET + "\nTo clone what BENCH asks about:\n\n")
        sys.stderr.writelines(
            f"  git clone --bare https://github.com/{name}.git REPOS/{name.replace('/', '+')}\n" for name in _named(options.bench)
        )
        return 2
    logging.basicConfig(level=logging.ERROR)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from benchmarks.retrieval.measure import measure
    from benchmarks.retrieval.rows import SETS
    from benchmarks.retrieval.table import as_json, render

    names = [one.name for one in SETS]
    if unknown := [name for name in options.only or () if name not in names]:
        parser.error(f"there is no set {', '.join(unknown)}: choose among {', '.join(names)}")
    results, left_out = asyncio.run(measure(options.bench, options.repos, options))
    table = sys.stderr if options.json else sys.stdout
    sys.stderr.write("\n")
    if results:
        table.write(render(results))
    table.writelines(f"{line}\n" for line in left_out)
    if options.json:
        print(json.dumps(as_json(results), indent=2))
    return 0 if results else 1


def _named(bench: Path) -> list[str]:
    from rag.errors import FootnoteError
    from rag.evaluation.datasets import read_questions

    names: dict[str, None] = {}
    for path in sorted(bench.glob("*.jsonl")):
        try:
            names |= dict.fromkeys(question.repository for question in read_questions(path))
        except FootnoteError as error:
            sys.stderr.write(f"{error}\n")
    return list(names)


if __name__ == "__main__":
    raise SystemExit(main())
