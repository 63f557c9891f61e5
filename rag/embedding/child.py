"""What a process that makes a model says: its job as JSON on standard input, its agreement or its error as JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

from rag.errors import FootnoteError


@dataclass(frozen=True, slots=True)
class ExportJob:
    """What to make and where to: `directory` and `tokenizer` of the model, `target` the file to write. Paths are absolute.

    `dimension`: of the vectors that are to come out.
    """

    name: str
    directory: str
    tokenizer: str
    pooling: str
    window: int
    dimension: int
    backend: str
    target: str


def run_job(work: Callable[[ExportJob], float]) -> int:
    """Does the work that standard input describes. Returns the exit code."""
    job = ExportJob(**json.load(sys.stdin))
    said, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    try:
        answer: dict[str, object] = {"agreement": work(job)}
    except FootnoteError as error:
        answer = {"error": type(error).__name__, "problem": error.problem, "remedy": error.remedy}
    json.dump(answer, said)
    return 0
