"""What goes to the log of a running bot: one event a line, no control characters, no secrets."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TextIO

from rag.source.redaction import redact

CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160))} | {
    ord(character): f"\\u{ord(character):04x}"
    for character in "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
}


class OneLine(logging.Formatter):
    """`time level logger message`, an exception's trace on the same line. Whatever was logged, it cannot forge a second event."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{self.moment(record)} {record.levelname} {record.name} {self.message(record)}"

    def moment(self, record: logging.LogRecord) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"

    def message(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return redact(text)[0].translate(CONTROL)


class JsonLine(OneLine):
    """One JSON object a line: time, level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {"time": self.moment(record), "level": record.levelname, "logger": record.name, "message": self.message(record)}
        return json.dumps(fields, ensure_ascii=True)


def configure_logging(style: str, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send every logger to `stream` (standard error), as text or as JSON lines. Libraries speak up only from WARNING."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLine() if style == "json" else OneLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for ours in ("bot", "rag", "scheduler", "playground"):
        logging.getLogger(ours).setLevel(level)
