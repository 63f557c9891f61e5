from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rag.answering.generators.groq import GroqLanguageModel, GroqSettings, _connect
from rag.answering.generators.groq_errors import refusal
from rag.answering.generators.stream import StreamReport
from rag.errors import GeneratorBusy, GeneratorCut, GeneratorError, GeneratorUnavailable, PromptTooLarge
from tests.answering.fake_groq import RATE_LIMITS, TOO_LARGE, FakeGroq, Fault, Hang, Reply, Step

KEY = "gsk_canaryCanaryCanaryCanary00000000000000000000000000"
MESSAGES = [("system", "Be brief."), ("user", "How?")]


class Sleeps:
    """Records pauses instead of making them."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


async def run(*script: Step, seconds: float = 20.0, sleeps: Sleeps | None = None, key: str = KEY) -> tuple[str, StreamReport, FakeGroq]:
    async with FakeGroq(script) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url, timeout=seconds), key, sleep=sleeps or Sleeps())
        try:
            stream = model.stream(MESSAGES, temperature=0.3, max_tokens=77)
            text = "".join([piece async for piece in stream])
            return text, stream.report, server
        finally:
            await model.aclose()


async def test_a_stream_with_its_usage_and_finish_reason() -> None:
    text, report, server = await run(Reply("Written by é. [1]", size=3, prompt_tokens=321, completion_tokens=9))
    assert text == "Written by é. [1]"
    assert report == StreamReport("stop", 321, 9)
    assert server.keys == [f"Bearer {KEY}"]
    assert server.requests == [
        {
            "model": "llama-3.3-70b-versatile",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How?"}],
            "temperature": 0.3,
            "max_tokens": 77,
            "stream": True,
        }
    ]


async def test_what_is_no_unicode_keeps_nobody_from_an_answer() -> None:
    """A file's name of bytes that are no UTF-8 is text with lone surrogates, which cannot be sent as it is."""
    name = b"src/caf\xe9.py".decode("utf-8", "surrogateescape")
    async with FakeGroq([Reply("Yes. [1]")]) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url), KEY)
        assert [piece async for piece in model.stream([("user", f"file: {name}")], temperature=0.0, max_tokens=9)]
        assert server.requests[0]["messages"] == [{"role": "user", "content": "file: src/caf?.py"}]
        await model.aclose()


async def test_the_name_has_provider_and_model() -> None:
    model = GroqLanguageModel(GroqSettings(model="m"), KEY)
    assert model.name == "groq/m"
    await model.aclose()


@pytest.mark.parametrize("suffix", ["", "/", "/openai/v1", "/openai/v1/"])
async def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    async with FakeGroq([Reply("Here. [1]")]) as server:
        monkeypatch.setenv("GROQ_BASE_URL", server.url + suffix)
        model = GroqLanguageModel(GroqSettings(), KEY)
        assert "".join([piece async for piece in model.stream(MESSAGES, temperature=0, max_tokens=1)]) == "Here. [1]"
        await model.aclose()


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_BASE_URL", "")
    assert _connect(GroqSettings(), KEY).base_url.host == "api.groq.com"


async def test_length_is_reported_as_the_finish_reason() -> None:
    _, report, _ = await run(Reply("Cut", finish_reason="length"))
    assert report.finish_reason == "length"


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Fault(401), GeneratorUnavailable),
        (Fault(403), GeneratorUnavailable),
        (Fault(404), GeneratorUnavailable),
        (Fault(400, "bad temperature"), GeneratorUnavailable),
        (Fault(307, headers={"Location": "http://127.0.0.1:9/"}), GeneratorUnavailable),
        (Fault(400, "too long", code="context_length_exceeded"), PromptTooLarge),
        (Fault(413, TOO_LARGE), PromptTooLarge),
        (Fault(429, TOO_LARGE), PromptTooLarge),
        (Fault(200, body="not a stream"), GeneratorCut),
        (Fault(200, body="data: {broken\n\n"), GeneratorCut),
        (Reply("Half an ans", cut_after=6), GeneratorCut),
        (Reply("Half an ans", error_after=6), GeneratorCut),
        (Reply("No reason given.", finish_reason=None), GeneratorCut),
        (Reply("No reason, no end.", finish_reason=None, done=False), GeneratorCut),
    ],
)
async def test_what_waiting_does_not_help_fails_with_its_own_error(step: Step, error: type[GeneratorError]) -> None:
    with pytest.raises(error) as caught:
        await run(step)
    assert caught.value.problem
    assert caught.value.remedy
    assert KEY not in repr(caught.value) + str(caught.value.__cause__)


async def test_a_refused_key_names_the_variable() -> None:
    with pytest.raises(GeneratorUnavailable, match="GROQ_API_KEY"):
        await run(Fault(401, f"Invalid API Key {KEY}"))


async def test_without_a_key_nothing_is_sent() -> None:
    async with FakeGroq() as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url), "")
        with pytest.raises(GeneratorUnavailable, match="GROQ_API_KEY"):
            await anext(model.stream(MESSAGES, temperature=0, max_tokens=1))
        await model.aclose()
        assert server.requests == []


async def test_a_request_beyond_the_accounts_limit_is_not_sent() -> None:
    async with FakeGroq() as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url, tokens_per_minute=100), KEY)
        with pytest.raises(PromptTooLarge, match="100 a minute"):
            await anext(model.stream(MESSAGES, temperature=0, max_tokens=96))
        assert await anext(model.stream(MESSAGES, temperature=0, max_tokens=90)) == "Writ"
        await model.aclose()
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 408, 429])
async def test_passing_faults_are_tried_again_with_growing_pauses(status: int) -> None:
    sleeps = Sleeps()
    text, _, server = await run(Fault(status), Fault(status), Reply("Third time. [1]"), sleeps=sleeps)
    assert text == "Third time. [1]"
    assert len(server.requests) == 3
    assert sleeps.taken == [1.0, 2.0]


async def test_attempts_are_bounded() -> None:
    async with FakeGroq([Fault(500)]) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url), KEY, sleep=Sleeps())
        with pytest.raises(GeneratorUnavailable):
            await anext(model.stream(MESSAGES, temperature=0, max_tokens=1))
        await model.aclose()
        assert len(server.requests) == 3


async def test_retry_after_is_honoured() -> None:
    sleeps = Sleeps()
    await run(Fault(429, RATE_LIMITS["requests per minute"], retry_after="7"), Reply(), sleeps=sleeps)
    assert sleeps.taken == [7.0]


@pytest.mark.parametrize(("limit", "words"), [(name, f"({name})") for name in RATE_LIMITS])
async def test_a_wait_beyond_the_deadline_is_not_begun(limit: str, words: str) -> None:
    sleeps = Sleeps()
    with pytest.raises(GeneratorBusy) as caught:
        await run(Fault(429, RATE_LIMITS[limit]), seconds=1.5, sleeps=sleeps)
    assert words in caught.value.problem
    assert sleeps.taken == []


async def test_pauses_together_stay_within_the_deadline() -> None:
    sleeps = Sleeps()
    with pytest.raises(GeneratorBusy):
        await run(Fault(429, retry_after="6"), Fault(429, retry_after="6"), seconds=10, sleeps=sleeps)
    assert sleeps.taken == [6.0]


@pytest.mark.parametrize(("step", "error"), [(Hang(), GeneratorUnavailable), (Reply("Some words", hang_after=4), GeneratorCut)])
async def test_silence_ends_at_the_deadline(step: Step, error: type[GeneratorError]) -> None:
    started = time.monotonic()
    with pytest.raises(error):
        await run(step, seconds=0.5)
    assert time.monotonic() - started < 5


async def test_a_stream_that_breaks_before_its_first_word_is_tried_again() -> None:
    text, _, server = await run(Reply("x", cut_after=0), Reply("Whole. [1]"))
    assert text == "Whole. [1]"
    assert len(server.requests) == 2


async def test_a_stream_that_breaks_later_is_not_repeated() -> None:
    async with FakeGroq([Reply("Half an answer", cut_after=8)]) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url), KEY, sleep=Sleeps())
        stream = model.stream(MESSAGES, temperature=0, max_tokens=1)
        assert await anext(stream) + await anext(stream) == "Half an "
        with pytest.raises(GeneratorCut):
            await anext(stream)
        await model.aclose()
        assert len(server.requests) == 1


async def test_after_the_finish_reason_nothing_can_be_lost() -> None:
    text, report, _ = await run(Reply("All of it. [1]", done=False))
    assert (text, report.finish_reason) == ("All of it. [1]", "stop")


async def test_nobody_listens_there() -> None:
    model = GroqLanguageModel(GroqSettings(base_url="http://127.0.0.1:9", timeout=5), KEY, sleep=Sleeps())
    with pytest.raises(GeneratorUnavailable, match="cannot be reached"):
        await anext(model.stream(MESSAGES, temperature=0, max_tokens=1))
    await model.aclose()


async def test_the_time_a_reader_takes_does_not_count() -> None:
    async with FakeGroq([Reply("One two three. [1]", size=9)]) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url, timeout=0.4), KEY)
        pieces: list[str] = []
        async for piece in model.stream(MESSAGES, temperature=0, max_tokens=1):
            pieces.append(piece)
            await asyncio.sleep(0.3)
        await model.aclose()
        assert "".join(pieces) == "One two three. [1]"


NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "12"}, "", 12.0),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, "", 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, "", 0.0),
        ({"retry-after": "soon"}, "try again in 3s", 3.0),
        ({}, "Please try again in 1h2m3.5s.", 3723.5),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, "", 0.0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], message: str, seconds: float) -> None:
    assert refusal(429, message, "", headers, "groq/m", NOW).retry_after == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500])
def test_the_providers_own_words_stay_out_of_our_errors(status: int) -> None:
    error = refusal(status, f"canary {KEY}", "canary", {}, "groq/m", NOW).error
    assert "canary" not in str(error)
