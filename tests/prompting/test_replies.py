"""A reply is the object that was asked for, to the letter, or it is malformed."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from rag.errors import GeneratorBusy, ReplyMalformed
from rag.prompting.replies import ReplyForm, ask_for, read_reply


class Mark(ReplyForm):
    score: float = Field(ge=0, le=10)
    count: int
    sure: bool
    weight: float
    reason: str = Field(max_length=1_000)


GOOD: dict[str, object] = {"score": 7, "count": 2, "sure": True, "weight": -0.5, "reason": "it does"}


def written(**other: object) -> str:
    return json.dumps(GOOD | other)


@given(st.floats(0, 10), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=1_000))
def test_what_was_asked_for_is_read_as_it_was_written(score: float, count: int, sure: bool, weight: float, reason: str) -> None:
    asked = {"score": score, "count": count, "sure": sure, "weight": weight, "reason": reason}
    for raw in (json.dumps(asked), json.dumps(asked, indent=2, ensure_ascii=False), json.dumps(dict(reversed(asked.items())))):
        for reply in (raw, f" \n{raw}\n", f"```json\n{raw}\n```", f"```\n{raw}\n```\n"):
            assert read_reply(reply, Mark).model_dump() == asked


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "7",
        "null",
        "[]",
        "{}",
        "I would give it 7.",
        f"[{written()}]",
        json.dumps(written()),  # the object in quotes
        written()[:-1],
        written() + written(),
        f"Here you are:\n{written()}",
        f"{written()}\nI hope that helps.",
        f"```json\n{written()}",
        f"```json\n{written()}\n```\nI hope that helps.",
        f"```yaml\n{written()}\n```",
        f"```json\n```json\n{written()}\n```\n```",
        written().replace('"', "'"),
        written().replace("}", ",}"),
        written().replace("true", "True"),
        written(more=1),
        json.dumps({key: value for key, value in GOOD.items() if key != "sure"}),
        written(score="7"),
        written(score=True),
        written(score=None),
        written(score=[7]),
        written(score=-0.001),
        written(score=10.001),
        written(score=1e300),
        written(score=math.nan),
        written(score=math.inf),
        written(weight=math.nan),
        written(weight=-math.inf),
        written().replace("-0.5", "1e999"),
        written(count="2"),
        written(count=True),
        written(count=2.5),
        written().replace('"count": 2', f'"count": {"9" * 5_000}'),
        written(sure=1),
        written(sure="true"),
        written(sure=None),
        written(reason=7),
        written(reason=None),
        written(reason="r" * 1_001),
        written().replace("it does", "\\ud800"),
        written().replace("it does", "it\ndoes"),
        '{"score": 0, ' + written()[1:],
        written()[:-1] + ', "score": 10}',
        "[" * 100_000,
        '{"score": ' * 50_000,
    ],
)
def test_anything_else_is_malformed(reply: str) -> None:
    with pytest.raises(ReplyMalformed, match="did not reply in the form asked for"):
        read_reply(reply, Mark)


@given(st.sampled_from(sorted(GOOD)), st.booleans())
def test_a_key_that_stands_twice_is_malformed_even_if_it_says_the_same(key: str, fenced: bool) -> None:
    reply = f"{{{json.dumps(key)}: {json.dumps(GOOD[key])}, {written()[1:]}"
    with pytest.raises(ReplyMalformed):
        read_reply(f"```json\n{reply}\n```" if fenced else reply, Mark)


@given(st.text(), st.integers(0, 200))
def test_no_reply_breaks_what_reads_it(text: str, cut: int) -> None:
    for reply in (text, written()[:cut] + text + written()[cut:], written(reason=text)):
        try:
            read = read_reply(reply, Mark)
        except ReplyMalformed:
            continue
        assert 0 <= read.score <= 10
        assert math.isfinite(read.weight)


class Scripted:
    """A language model that replies in pieces; `left`: whether whoever asked has closed its stream or read it to the end."""

    name = "scripted/one"

    def __init__(self, reply: str, error: Exception | None = None) -> None:
        self._reply = reply
        self._error = error
        self.given = 0
        self.left = False
        self.asked: tuple[Sequence[tuple[str, str]], float, int] | None = None

    def stream(self, messages: Sequence[tuple[str, str]], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        self.asked = (messages, temperature, max_tokens)
        return self._run()

    async def _run(self) -> AsyncGenerator[str, None]:
        try:
            for start in range(0, len(self._reply), 7):
                self.given += len(self._reply[start : start + 7])
                yield self._reply[start : start + 7]
            if self._error:
                raise self._error
        finally:
            self.left = True


async def test_a_model_is_asked_without_chance_and_its_pieces_are_one_reply() -> None:
    model = Scripted(written())
    assert (await ask_for(Mark, model, [("user", "q")], max_tokens=50)).model_dump() == GOOD
    assert model.asked == ([("user", "q")], 0.0, 50)
    assert model.left


async def test_a_reply_without_end_is_given_up_and_its_connection_let_go() -> None:
    model = Scripted(written() + " " * 1_000_000)
    with pytest.raises(ReplyMalformed, match=r"scripted/one .*more than 500 characters"):
        await ask_for(Mark, model, [("user", "q")], max_tokens=50, most_chars=500)
    assert model.given <= 507
    assert model.left


async def test_a_reply_as_long_as_it_may_be_is_read() -> None:
    reply = written() + " " * 100
    assert await ask_for(Mark, Scripted(reply), [("user", "q")], max_tokens=50, most_chars=len(reply))


async def test_a_model_that_fails_is_not_called_malformed() -> None:
    with pytest.raises(GeneratorBusy):
        await ask_for(Mark, Scripted(written(), GeneratorBusy("Too many.", "Wait.")), [("user", "q")], max_tokens=50)
