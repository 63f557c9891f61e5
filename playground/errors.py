"""What goes wrong, in Slack's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SlackError(Exception):
    """A Web API call that Slack would refuse: `code` is what stands in `error`, `messages` in `response_metadata.messages`."""

    def __init__(self, code: str, *messages: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.messages: Sequence[str] = messages
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The JSON answer."""
        body: dict[str, Any] = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["errors"] = [message.removeprefix("[ERROR] ") for message in self.messages]
            body["response_metadata"] = {"messages": list(self.messages)}
        return body


class PlaygroundError(Exception):
    """A person in the playground tried what nobody could do in Slack: the message says what, and what is there instead."""
