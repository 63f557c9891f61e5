"""The words of an answer that declines. They are code's, never the model's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.defang import defang_text
from rag.answering.segments import clean
from rag.source.redaction import redact
from rag.types import GenerationInfo, SearchResult

_SHOWN_CHARS = 200
_SHOWN_PLACES = 3


def abstention(question: str, index: GenerationInfo, read: Sequence[SearchResult]) -> str:
    """Says that nothing answers, what was looked for, where, and what came closest. `read`: the results that were considered."""
    asked = _plain(question)
    looked = f"I looked for “{asked}” in {index.documents:,} files at commit `{index.commit[:7]}`"
    if not read:
        return f"Nothing in this repository answers that. {looked} and found nothing that matches."
    places = list(dict.fromkeys(f"{_code(result.chunk.path)} (lines {result.chunk.start_line}–{result.chunk.end_line})" for result in read))
    closest = ", ".join(places[:_SHOWN_PLACES])
    return f"Nothing in this repository answers that. {looked}; what came closest does not answer it: {closest}."


def _plain(question: str) -> str:
    """The question on one line, without anything that a reader could take for markup, a citation, a link or a ping."""
    text = " ".join(redact(clean(question))[0].split())
    text = re.sub(r"[`\[\]<>]", "", text)
    text = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + " …"
    return defang_text(text)


def _code(path: str) -> str:
    return f"`{' '.join(clean(path).replace('`', chr(39)).split())}`"
