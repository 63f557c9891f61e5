"""What is read of a commit's message: what it says of the change. Pure.

Not what tools wrote below it, nobody's address or account, and no secret.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rag.source.redaction import redact

_READ = 8_000  # characters of a message
_TRAILER = re.compile(
    r"^\s*(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+:|(?:Fixes|Closes|Refs|Link|Bug|Cc|See)\s*:|\(cherry picked from\b).*$", re.M | re.I
)
_ADDRESS = re.compile(r"\S{1,200}@\S{1,200}|\bhttps?://\S{1,2000}|(?<!\w)@[A-Za-z0-9][\w./-]{0,99}")
_COMMIT = re.compile(r"\b(?=[0-9a-f]{0,39}[0-9])[0-9a-f]{7,64}\b")


class Said(NamedTuple):
    """`subject`: the first line; `body`: the rest, on one line."""

    subject: str
    body: str


def said(message: str) -> Said:
    """The message without trailers, addresses, links, accounts and ids of commits; secrets are redacted."""
    text, _ = redact(message[:_READ])
    subject, _, body = text.strip().partition("\n")
    return Said(_bare(subject), _bare(_TRAILER.sub("", body)))


def _bare(text: str) -> str:
    return " ".join(_COMMIT.sub(" ", _ADDRESS.sub(" ", text)).split())
