"""The marks that hold untrusted text together in a prompt.

Chunks, questions and answers are data that may have been written to deceive. Each stands between two lines that carry a random number made
for this one request, so that nothing in it can close its own part or open another.
"""

from __future__ import annotations

import re
import secrets

_LINE_ENDS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


def random_marker() -> str:
    """16 hexadecimal digits that nobody can have written into a file beforehand. New for every request."""
    return secrets.token_hex(8)


def marked(marker: str, name: str, body: str) -> str:
    """`body` between its two lines; `name` says what it is and is ours. The marker itself, should `body` hold it, is taken out of it."""
    return f"=== {marker} {name} begins ===\n{unmarked(marker, body)}\n=== {marker} {name} ends ==="


def marked_parts(marker: str, *parts: tuple[str, str]) -> str:
    """(name, body) each between its lines, after a sentence that explains them."""
    opening = f"Every part begins and ends at a line with the mark {marker}."
    return "\n\n".join([opening, *(marked(marker, name, body) for name, body in parts)])


def unmarked(marker: str, text: str) -> str:
    """Without the marker, and without one that taking it out would make."""
    while marker in text:
        text = text.replace(marker, "")
    return text


def one_line(text: str) -> str:
    """A path or symbol on one line, whatever characters git allowed in it."""
    return _LINE_ENDS.sub(" ", text)
