"""A statement as text and code, in a form that every Markdown reader parses alike.

Readers disagree about escaped backticks, spans of several backticks and spans left open. Whoever decides what is code decides what may
become a link, so nothing ambiguous leaves here: a span has one backtick on either side and none inside, a fence has three.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# Control characters, invisible and direction-changing ones, private use: they hide text, split words or forge log lines.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\uffff\ue000-\uf8ff\ud800-\udfff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_DOTS = str.maketrans({"。": ".", "．": ".", "｡": "."})
_INFO = re.compile(r"[A-Za-z0-9_+#.-]{1,20}")
_LABEL_DOT = re.compile(r"(?<=\w)[。．｡](?=\w)")


@dataclass(frozen=True, slots=True)
class Segment:
    """`text` without its backticks. A fence's text is its inner lines; `info` is the language named at its opening."""

    kind: Literal["text", "code", "fence"]
    text: str
    info: str = ""


def clean(text: str) -> str:
    """Without control, invisible and private-use characters; dots that only look different inside a name are dots."""
    return _LABEL_DOT.sub(lambda match: match.group().translate(_DOTS), _UNSEEN.sub("", text))


def inline(text: str) -> list[Segment]:
    """Text and code spans of one line. A backtick that opens nothing becomes an apostrophe."""
    text = re.sub(r"\\+(?=`)", "", text)
    runs = [(match.start(), match.end()) for match in re.finditer("`+", text)]
    closer: dict[int, int] = {}
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        if length in latest:
            closer[index] = latest[length]
        latest[length] = index
    segments: list[Segment] = []
    position, index = 0, 0
    plain: list[str] = []
    while index < len(runs):
        start, end = runs[index]
        plain.append(text[position:start])
        position = end
        closing = closer.get(index)
        body = text[end : runs[closing][0]].strip() if closing is not None else ""
        if closing is None or not body:
            plain.append("'" * (end - start))
            index += 1
            continue
        if joined := "".join(plain):
            segments.append(Segment("text", joined))
        plain.clear()
        segments.append(Segment("code", body.replace("`", "'")))
        position = runs[closing][1]
        index = closing + 1
    plain.append(text[position:])
    if joined := "".join(plain):
        segments.append(Segment("text", joined))
    return segments


def fence(text: str) -> Segment:
    """A fenced block, its fences taken off; runs of backticks inside are made harmless."""
    lines = text.strip("\n").split("\n")
    opening = lines[0].strip().lstrip(">").strip()
    mark = opening[0]
    info = opening.lstrip(mark).strip().split(" ")[0]
    inner = lines[1:]
    if inner and set(inner[-1].strip().lstrip(">").strip()) == {mark}:
        inner = inner[:-1]
    body = re.sub("`{3,}", lambda match: "'" * len(match.group()), "\n".join(inner))
    return Segment("fence", body, info if _INFO.fullmatch(info) else "")
