"""A streamed reply in a thread: start, append, roll over, finish, fall back.

Statements come in whole; a task of its own sends what has gathered, at most once a second, for all live streams share one rate.
Whatever goes wrong with streaming, `finish` makes the thread say the whole message, by stopping the stream, else by updating or
posting.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from bot.delivery import Delivery
from bot.fences import closing, open_fence
from bot.render import BODY_LIMIT, MAX_PARTS, Message
from bot.services import ReplySettings
from bot.web import SlackBusy, SlackError, SlackRefused, SlackUncertain, SlackWeb

log = logging.getLogger(__name__)

_PATIENCE = 3.0  # seconds that a step of a stream waits for a rate limit; the text is kept


class AppendBudget:
    """So many appends in any minute, for all streams of this process."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._taken: deque[float] = deque()

    async def take(self) -> None:
        """Waits until one more is allowed, at most a minute."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            while self._taken and self._taken[0] <= now - 60.0:
                self._taken.popleft()
            if len(self._taken) < self._per_minute:
                self._taken.append(now)
                return
            await asyncio.sleep(self._taken[0] + 60.0 - now)


class Reply:
    """One answer on its way. `known`: messages that an earlier attempt left; then nothing is streamed, and they are written over.

    `on_parts` is awaited with the ts of all messages so far whenever one more came into being, before anything else is sent.
    `sent`: the escaped text that has been handed to `write`.
    """

    def __init__(
        self,
        web: SlackWeb,
        delivery: Delivery,
        budget: AppendBudget,
        settings: ReplySettings,
        on_parts: Callable[[Sequence[str]], Awaitable[None]],
        known: Sequence[str] = (),
    ) -> None:
        self._web = web
        self._delivery = delivery
        self._budget = budget
        self._settings = settings
        self._on_parts = on_parts
        self._parts = list(known)
        # stream: all well. settle: the messages must be written anew at the end. post: nothing stands yet. stopped: by the person.
        self._mode: Literal["stream", "settle", "post", "stopped"] = "settle" if known else "stream" if settings.stream else "post"
        self._started = 0.0
        self._current = ""  # text of the message that streams now
        self._streamed = ""  # all text that was streamed, without the fences that rolling over added
        self._buffer = ""
        self._lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    @property
    def sent(self) -> str:
        return self._streamed + self._buffer

    def write(self, text: str) -> None:
        """Takes the next whole statement, escaped. Returns at once."""
        self._buffer += text
        if self._mode == "stream":
            if self._pump is None:
                self._pump = asyncio.create_task(self._run(), name="reply")
            self._wake.set()

    async def finish(self, message: Message) -> tuple[str, ...]:
        """Makes the thread say `message`, which begins with what was written unless it says something else. Returns the ts of its messages.

        Raises: SlackError where that did not succeed; calling `Delivery.deliver` later is safe.
        """
        await self.close()
        if self._mode == "stopped":
            return tuple(self._parts)
        if self._mode == "stream" and self._parts and await self._stop(message):
            return tuple(self._parts)
        known = list(self._parts)
        if self._mode == "settle":
            standing = await self._delivery.standing()
            if standing.complete:
                return standing.parts
            known += [ts for ts in standing.orphans if ts not in known]
            await self._on_parts(known)
        return await self._delivery.deliver(message, known)

    async def close(self) -> None:
        """Stops sending, once what is on its way has arrived. Does nothing the second time."""
        async with self._lock:
            pump, self._pump = self._pump, None
            if pump is not None:
                pump.cancel()
        if pump is not None:
            with suppress(asyncio.CancelledError):
                await pump

    async def _run(self) -> None:
        while self._mode == "stream":
            await self._wake.wait()
            self._wake.clear()
            while self._buffer.strip() and self._mode == "stream":
                await self._budget.take()
                async with self._lock:
                    await self._send()
                await asyncio.sleep(self._settings.append_interval)

    async def _send(self) -> None:
        """One step: starts the stream, or appends what has gathered."""
        text = self._buffer
        loop = asyncio.get_running_loop()
        too_old = bool(self._parts) and loop.time() - self._started >= self._settings.rollover
        prefix = ""
        if len(text) > BODY_LIMIT - 200:
            self._mode = "settle"  # a statement that fills a message by itself is cut at the end, between messages
            return
        try:
            if self._parts and (too_old or len(self._current) + len(text) > BODY_LIMIT):
                if len(self._parts) >= MAX_PARTS:
                    self._mode = "settle"
                    return
                prefix = await self._roll_over()
                await self._start(prefix + text)
            elif not self._parts:
                await self._start(text)
            else:
                await self._web.call(
                    "chat.appendStream", {"channel": self._channel, "ts": self._parts[-1], "markdown_text": text}, patience=_PATIENCE
                )
                self._current += text
        except SlackBusy:
            if not self._parts or prefix:
                self._mode = "settle" if self._parts else "post"
            return  # the text stays in the buffer
        except SlackRefused as refusal:
            log.info("streaming ended: %s", refusal.error)
            self._mode = "stopped" if refusal.error == "stopped_by_user" else "settle" if self._parts else "post"
            return
        except SlackUncertain:
            self._mode = "settle"
            return
        self._streamed += text
        self._buffer = self._buffer[len(text) :]

    async def _start(self, text: str) -> None:
        row = self._delivery.row
        response = await self._web.call(
            "chat.startStream",
            {
                "channel": self._channel,
                "thread_ts": row.thread,
                "markdown_text": text,
                "recipient_user_id": row.user,
                "recipient_team_id": row.user_team,
            },
            patience=_PATIENCE,
        )
        self._parts.append(str(response.get("ts", "")))
        self._current = text
        self._started = asyncio.get_running_loop().time()
        await self._on_parts(self._parts)

    async def _roll_over(self) -> str:
        """Ends the message that streams now. Returns what the next one must begin with: the header of the code block that was cut."""
        opener = open_fence(self._current)
        closer = ("" if self._current.endswith("\n") else "\n") + closing(opener) if opener else ""
        await self._web.call(
            "chat.stopStream",
            {
                "channel": self._channel,
                "ts": self._parts[-1],
                "metadata": self._delivery.metadata(len(self._parts), 0),
                **({"markdown_text": closer} if closer else {}),
            },
            patience=_PATIENCE,
        )
        return f"{opener}\n" if opener else ""

    async def _stop(self, message: Message) -> bool:
        """Finishes the stream with what is missing and the blocks under it. False where it must be settled otherwise."""
        if message.body.startswith(self._streamed):
            rest = message.body[len(self._streamed) :]
        elif message.body == self._streamed.rstrip():
            rest = ""
        else:
            self._mode = "settle"
            return False
        if len(self._current) + len(rest) > BODY_LIMIT:
            self._mode = "settle"
            return False
        arguments: dict[str, Any] = {"markdown_text": rest} if rest.strip() else {}
        try:
            await self._web.call(
                "chat.stopStream",
                {
                    "channel": self._channel,
                    "ts": self._parts[-1],
                    "blocks": list(message.tail),
                    "metadata": self._delivery.metadata(len(self._parts), len(self._parts)),
                    **arguments,
                },
            )
        except SlackRefused as refusal:
            log.info("stream could not be finished: %s", refusal.error)
            if refusal.error == "stopped_by_user":
                return True
            self._mode = "settle"
            return False
        except SlackError:
            self._mode = "settle"  # finish reads back whether it was taken
            return False
        return True

    @property
    def _channel(self) -> str:
        return self._delivery.row.key.channel
