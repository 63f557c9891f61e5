"""Failures on demand: a person who tests a bot says which call fails, how, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Fault:
    """How the next `times` calls of one method go wrong, after `after` calls that go right.

    `error`: Slack's code in the JSON answer, "" to let the call through (with a delay, or to drop its answer).
    `status`, `retry_after` (seconds, 429's header), `body` (instead of JSON): what the HTTP answer is.
    `refuse`: the connection is cut before anything is done; `drop`: it is done, and cut before the answer is sent.
    `delay`: seconds before anything is done. `when`: only calls whose arguments it accepts.
    """

    method: str
    error: str = ""
    status: int = 200
    retry_after: int | None = None
    body: str | None = None
    refuse: bool = False
    drop: bool = False
    delay: float = 0.0
    times: int = 1
    after: int = 0
    when: Callable[[Mapping[str, Any]], bool] | None = None


class Faults:
    """The faults in store, and those of event deliveries."""

    def __init__(self) -> None:
        self._stored: list[Fault] = []
        self.duplicates: list[tuple[str, bool]] = []
        self.lost_acks = 0

    def inject(
        self,
        method: str,
        error: str = "",
        *,
        status: int = 200,
        retry_after: int | None = None,
        body: str | None = None,
        refuse: bool = False,
        drop: bool = False,
        delay: float = 0.0,
        times: int = 1,
        after: int = 0,
        when: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> Fault:
        """Make a Web API method ("*": any) fail; see `Fault`. Giving `retry_after` alone is a rate limit: 429, `ratelimited`."""
        if retry_after is not None and not error:
            error, status = "ratelimited", 429
        fault = Fault(method, error, status, retry_after, body, refuse, drop, delay, times, after, when)
        self._stored.append(fault)
        return fault

    def duplicate_events(self, event_type: str = "*", *, times: int = 1, fresh_id: bool = True) -> None:
        """The next `times` events of a type arrive twice; with `fresh_id` the second has an event id of its own."""
        self.duplicates += [(event_type, fresh_id)] * times

    def lose_acks(self, times: int = 1) -> None:
        """The next acknowledgements are lost on the way, so that Slack retries what the app has already taken."""
        self.lost_acks += times

    def clear(self) -> None:
        """Everything goes right again."""
        self._stored.clear()
        self.duplicates.clear()
        self.lost_acks = 0

    def take(self, method: str, arguments: Mapping[str, Any]) -> Fault | None:
        """The fault for this call, counted down."""
        for fault in self._stored:
            if fault.method not in (method, "*") or (fault.when is not None and not fault.when(arguments)):
                continue
            if fault.after > 0:
                fault.after -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self._stored.remove(fault)
            return fault
        return None

    def take_duplicate(self, event_type: str) -> bool | None:
        """Whether this event goes out twice, and if so whether with a fresh id."""
        for entry in self.duplicates:
            if entry[0] in (event_type, "*"):
                self.duplicates.remove(entry)
                return entry[1]
        return None

    def take_lost_ack(self) -> bool:
        if self.lost_acks <= 0:
            return False
        self.lost_acks -= 1
        return True
