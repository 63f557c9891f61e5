"""The floor that every retriever has to beat: how often the words of the question stand in a file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from rag.evaluation.metrics import Place
from rag.types import Document

WINDOW = 20  # lines of a result
_WORD = re.compile(r"\w+")


class WordCounts:
    """Counts of whole words, regardless of case, identifiers as they are: what `grep -ciw` over a checkout would tell. No word is left
    out, weighted or split."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._texts: dict[str, str] = {}
        self._counts: dict[str, dict[str, int]] = defaultdict(dict)
        for document in documents:
            self._texts[document.path] = document.text
            for word, count in Counter(_WORD.findall(document.text.lower())).items():
                self._counts[word][document.path] = count

    def search(self, question: str, limit: int) -> list[Place]:
        """Files by the number of words of the question in them, ties by path; of each the `WINDOW` lines that hold most of them."""
        words = set(_WORD.findall(question.lower()))
        totals: Counter[str] = Counter()
        for word in words:
            totals.update(self._counts.get(word, {}))
        best = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return [Place(path, *_densest(self._texts[path], words), float(count)) for path, count in best]


def _densest(text: str, words: set[str]) -> tuple[int, int]:
    """First and last line of the window with most of the words; the earliest of equals."""
    lines = text.lower().split("\n")
    counts = [sum(word in words for word in _WORD.findall(line)) for line in lines]
    current = best = sum(counts[:WINDOW])
    start = 0
    for first in range(1, len(counts) - WINDOW + 1):
        current += counts[first + WINDOW - 1] - counts[first - 1]
        if current > best:
            best, start = current, first
    return start + 1, min(start + WINDOW, len(lines))
