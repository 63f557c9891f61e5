"""`python -m benchmarks.retrieval.wordings`: what other words for the same question lose."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval.wordings",
        description="Asks labelled questions as they are and as people write: with chatter around them, in other forms of sentence, with "
        "slips of the keyboard, in other case and spelling. Prints what each way loses.",
    )
    parser.add_argument("--bench", type=Path, required=True, metavar="DIR", help="folder of question files (docs/retrieval.md)")
    parser.add_argument("--repos", type=Path, required=True, metavar="DIR", help="folder of clones")
    parser.add_argument("--standing", action="store_true", help="ask only what is indexed already")
    parser.add_argument("--only", action="append", metavar="FAMILY", help="of wordings; may be repeated")
    parser.add_argument("--each", type=int, default=2, metavar="N", help="wordings of a family that a question is asked in (default: 2)")
    parser.add_argument("--share", type=float, default=1.0, help="of the 300 questions that are drawn (default: 1)")
    parser.add_argument("--wordings", action="store_true", help="a line for every wording as well")
    parser.add_argument("--json", action="store_true", help="print the pairs on standard output, the table on standard error")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from benchmarks.retrieval.measure import tell
    from benchmarks.retrieval.wordings.measure import FAMILIES, drawn, measure
    from benchmarks.retrieval.wordings.table import as_json, render
    from bot.configuration import load_settings
    from bot.part_settings import embedding_settings, retrieval_settings
    from rag.evaluation.indexes import EvalIndexes

    if unknown := set(options.only or ()) - set(FAMILIES):
        parser.error(f"there is no family {', '.join(sorted(unknown))}: choose among {', '.join(FAMILIES)}")
    questions = drawn(options.bench, options.share)
    if not questions:
        parser.error(f"there are no questions in {options.bench}")
    own = load_settings(None)
    indexes = EvalIndexes(options.repos, own.data_dir / "evaluation", embedding=embedding_settings(own), standing_only=options.standing)
    try:
        pairs, left_out = asyncio.run(
            measure(questions, indexes, retrieval_settings(own), tell, each=options.each, only=options.only or ())
        )
    finally:
        indexes.close()
    sys.stderr.write("\n")
    table = sys.stderr if options.json else sys.stdout
    if pairs:
        table.write(render(pairs, each_wording=options.wordings))
    table.writelines(f"{line}\n" for line in left_out)
    if options.json:
        print(json.dumps(as_json(pairs), indent=1, ensure_ascii=False))
    return 0 if pairs else 1


if __name__ == "__main__":
    raise SystemExit(main())
