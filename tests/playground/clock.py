"""A clock that a test moves."""

from __future__ import annotations

import time


class Clock:
    """The machine's time, plus what the test has added."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead

    def advance(self, seconds: float) -> None:
        self.ahead += seconds
