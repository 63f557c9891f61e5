"""Groq's chat completions as a LanguageModel, through its own SDK.

The SDK's retries are off: above a Retry-After of 60 s it ignores the header and sends three attempts within 1.5 s. Ours wait as long as
the server says, as far as that lies within one deadline for all attempts and pauses together. The SDK is imported when the first question
needs it: half a second that commands and repositories without a language model do not pay.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from rag.answering.context import estimate_tokens
from rag.answering.generators.groq_errors import Refusal, refusal
from rag.answering.generators.stream import ReportedStream, StreamReport
from rag.embedding.well_formed import well_formed
from rag.errors import GeneratorCut, GeneratorUnavailable, PromptTooLarge

if TYPE_CHECKING:
    import groq
    from groq.types.chat import ChatCompletionChunk

_T = TypeVar("_T")
_GROQ = "https://api.groq.com"
_ATTEMPTS = 3
_FIRST_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class GroqSettings:
    """`base_url`: "" for GROQ_BASE_URL or Groq itself. `timeout`: seconds spent waiting for one answer, attempts and pauses included.

    `tokens_per_minute`: the account's limit, against which Groq counts prompt and max_tokens together. A request that must exceed it is not
    sent; 0 for no limit.
    """

    model: str = "llama-3.3-70b-versatile"
    temperature: float = 0.1
    max_tokens: int = 1024
    base_url: str = ""
    timeout: float = 60.0
    tokens_per_minute: int = 8000


class GroqLanguageModel:
    """One model at Groq. Safe to share between questions; `aclose` when done."""

    def __init__(self, settings: GroqSettings, api_key: str, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._settings = settings
        self._api_key = api_key
        self._sleep = sleep
        self._client: groq.AsyncGroq | None = None
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        return f"groq/{self._settings.model}"

    async def aclose(self) -> None:
        if self._client:
            await self._client.close()

    def stream(self, messages: Sequence[tuple[str, str]], *, temperature: float, max_tokens: int) -> ReportedStream:
        """Its report has the finish reason and the tokens used. Raises as LanguageModel says."""
        report = StreamReport()
        payload = {
            "model": self._settings.model,
            "messages": [{"role": role, "content": well_formed(content)} for role, content in messages],
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        return ReportedStream(self._run(payload, report), report)

    async def _run(self, payload: dict[str, Any], report: StreamReport) -> AsyncGenerator[str, None]:
        if not self._api_key:
            raise GeneratorUnavailable(f"{self.name} needs a key.", "Set GROQ_API_KEY.")
        limit = self._settings.tokens_per_minute
        asked = payload["max_tokens"] + sum(estimate_tokens(message["content"]) for message in payload["messages"])
        if 0 < limit < asked:
            raise PromptTooLarge(
                f"A request of about {asked} tokens exceeds the {limit} a minute of {self.name}.", "Lower request_tokens or max_tokens."
            )
        patience = _Patience(self._settings.timeout)
        attempt, begun = 0, False
        while True:
            attempt += 1
            try:
                events = await self._open(payload, patience)
                try:
                    while (text := await self._next(events, patience, report)) is not None:
                        if text:
                            begun = True
                            yield text
                finally:
                    await events.close()
                return
            except _Refused as refused:
                failure = refused.refusal
            except GeneratorCut as cut:
                failure = Refusal(cut, None if begun else 0.0)
            pause = failure.retry_after
            if pause is None or attempt == _ATTEMPTS:
                raise failure.error
            pause = pause or _FIRST_PAUSE * 2 ** (attempt - 1)
            if pause >= patience.left:
                raise failure.error
            patience.left -= pause
            await self._sleep(pause)

    async def _connected(self) -> groq.AsyncGroq:
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(_connect, self._settings, self._api_key)
            return self._client

    async def _open(self, payload: dict[str, Any], patience: _Patience) -> groq.AsyncStream[ChatCompletionChunk]:
        client = await self._connected()
        import groq
        import httpx

        try:
            stream: groq.AsyncStream[ChatCompletionChunk] = await patience.wait(client.chat.completions.create(**payload, stream=True))
        except groq.APIStatusError as error:
            message, code = _told(error.body)
            headers = {key.lower(): value for key, value in error.response.headers.items()}
            raise _Refused(refusal(error.status_code, message, code, headers, self.name, datetime.now(UTC))) from None
        except (TimeoutError, groq.APITimeoutError, httpx.TimeoutException):
            raise _Refused(Refusal(self._unavailable(f"did not answer within {self._settings.timeout:.0f} seconds"), None)) from None
        except (groq.APIConnectionError, httpx.HTTPError):
            raise _Refused(Refusal(self._unavailable("cannot be reached"), 0.0)) from None
        except (groq.GroqError, ValueError):
            raise _Refused(Refusal(self._unavailable("gave an answer that cannot be read"), None)) from None
        return stream

    async def _next(self, events: groq.AsyncStream[ChatCompletionChunk], patience: _Patience, report: StreamReport) -> str | None:
        """The next text ("" for events without any), None at the end. A connection that breaks after the finish reason has lost nothing."""
        import groq
        import httpx

        try:
            event = await patience.wait(anext(events))
        except StopAsyncIteration:
            problem = "ended without a finish reason"
        except TimeoutError:
            problem = "went silent"
        except (groq.GroqError, httpx.HTTPError, ValueError):
            problem = "broke off"
        else:
            failed = _read(event, report)
            if failed:
                raise GeneratorCut(f"The answer of {self.name} was stopped by the provider.", "Ask again.")
            choices = event.choices or []
            return (choices[0].delta.content or "") if choices and choices[0].delta else ""
        if report.finish_reason:
            return None
        raise GeneratorCut(f"The answer of {self.name} {problem}.", "Ask again.") from None

    def _unavailable(self, problem: str) -> GeneratorUnavailable:
        return GeneratorUnavailable(f"{self.name} {problem}.", "Check the network and GROQ_BASE_URL, or try again later.")


def _connect(settings: GroqSettings, api_key: str) -> groq.AsyncGroq:
    import groq
    import httpx

    base_url = settings.base_url or os.environ.get("GROQ_BASE_URL", "") or _GROQ
    return groq.AsyncGroq(
        api_key=api_key,
        base_url=base_url.rstrip("/").removesuffix("/openai/v1"),  # the SDK appends it
        max_retries=0,
        timeout=httpx.Timeout(settings.timeout, connect=min(10.0, settings.timeout)),
        http_client=groq.DefaultAsyncHttpxClient(follow_redirects=False),  # a redirect would carry the prompt elsewhere
    )


class _Refused(Exception):
    def __init__(self, why: Refusal) -> None:
        self.refusal = why
        super().__init__()


class _Patience:
    """Seconds left to spend waiting. Time that the reader takes between two pieces does not count."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    async def wait(self, thing: Awaitable[_T]) -> _T:
        """Raises: TimeoutError."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, self.left)):
                return await thing
        finally:
            self.left -= time.monotonic() - started


def _read(event: ChatCompletionChunk, report: StreamReport) -> bool:
    """Takes finish reason and usage from an event; True if the provider reports an error in it."""
    if event.choices and event.choices[0].finish_reason:
        report.finish_reason = event.choices[0].finish_reason
    usage = (event.x_groq.usage if event.x_groq else None) or event.usage
    if usage:
        report.prompt_tokens, report.completion_tokens = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return bool(event.x_groq and event.x_groq.error)


def _told(body: object) -> tuple[str, str]:
    """(message, code) of an error body, whatever shape it has."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        return str(error.get("message") or ""), str(error.get("code") or "")
    return (error, "") if isinstance(error, str) else ("", "")
