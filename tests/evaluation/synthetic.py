"""Questions and rankings without a meaning, the same on every machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _numbers() -> Iterator[int]:
    """A linear congruential generator (Numerical Recipes): Python promises no stable sequence of its own."""
    state = 2026
    while True:
        state = (1664525 * state + 1013904223) % 2**32
        yield state >> 16


def questions_and_rankings() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """60 questions over three repositories in the file's format, with rankings: empty, short and of fifty, with repeated files; labels
    with and without lines, several in one file, more than ten; questions without a ranking."""
    numbers = _numbers()

    def below(limit: int) -> int:
        return next(numbers) % limit

    def place(spread: int) -> dict[str, Any]:
        start = 1 + 10 * below(8)
        return {"path": f"src/f{below(spread)}.py", "start_line": start, "end_line": start + below(25)}

    questions, rankings = [], []
    for number in range(60):
        spread = 4 + below(30)
        labels = []
        for _ in range(14 if number == 7 else 1 + below(4)):
            label = place(spread) | {"grade": 1 + below(2)}
            if below(3) == 0:
                del label["start_line"], label["end_line"]
            labels.append(label)
        name = f"q{number}"
        repository = f"owner/r{number % 3}"
        questions.append(
            {
                "dataset": "synthetic",
                "id": name,
                "repo": repository,
                "commit": COMMIT,
                "language": "python",
                "query": "?",
                "relevant": labels,
            }
        )
        if number % 13 != 5:
            count = (0, 3, 8, 50)[below(4)]
            rankings.append({"id": name, "results": [place(spread) | {"score": float(count - i)} for i in range(count)]})
    return questions, rankings


def write(directory: Path) -> tuple[Path, Path]:
    """The two files."""
    paths = directory / "questions.jsonl", directory / "rankings.jsonl"
    for path, rows in zip(paths, questions_and_rankings(), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths
