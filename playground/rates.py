"""Slack's rate limits: so many calls a minute, per method."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping

_WINDOW = 60.0


class RateLimits:
    """A sliding minute per method. `per_minute`: calls allowed; a method that is not in it has no limit."""

    def __init__(self, per_minute: Mapping[str, int], clock: Callable[[], float]) -> None:
        self.per_minute = dict(per_minute)
        self._clock = clock
        self._calls: dict[str, deque[float]] = defaultdict(deque)

    def wait(self, method: str) -> int:
        """Count a call: 0 if it may go ahead, else the whole seconds after which one may."""
        most = self.per_minute.get(method)
        if most is None:
            return 0
        now, calls = self._clock(), self._calls[method]
        while calls and calls[0] <= now - _WINDOW:
            calls.popleft()
        if len(calls) >= most:
            return max(1, math.ceil(calls[0] + _WINDOW - now))
        calls.append(now)
        return 0
