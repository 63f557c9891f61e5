"""A question in the workspace, and what stands in its thread."""

from __future__ import annotations

import json

import pytest

from bot.render import METADATA_EVENT, VOTE_ACTION
from bot.slack_service import SlackService
from rag import errors
from tests.bot.conftest import House
from tests.bot.scripted import Script, repository


async def test_a_mention_is_answered_in_its_thread_with_its_footnotes(house: House, bot: SlackService) -> None:
    ts = await house.say("@footnote how are routes registered?")
    message = await house.reply(ts)
    blocks = json.dumps(message.blocks)
    assert message.thread_ts == ts
    assert "Routes are registered by `add_url_rule`.[1]" in blocks
    assert "<https://github.com/example/flask/blob/0123/src/app.py#L10-L20|src/app.py:10-20>" in blocks
    assert "`flask` at `0123456`" in blocks
    assert VOTE_ACTION in blocks
    assert message.metadata is not None
    assert message.metadata["event_type"] == METADATA_EVENT
    assert house.pipeline.asked[0].text == "how are routes registered?"
    logged = await house.log.get(house.pipeline.asked[0].answer_id)
    assert logged is not None
    assert bot.healthy


async def test_the_answer_streams(house: House, bot: SlackService) -> None:
    house.pipeline.scripts = [Script(("One.[1]\n", "Two.[1]\n", "Three <!channel>.[1]\n"), pause=0.15)]
    message = await house.reply(await house.say("@footnote how?"))
    assert message.text.rstrip() == "One.[1]\nTwo.[1]\nThree &lt;!channel&gt;.[1]"
    start = house.called("chat.startStream")[0]
    assert (start["recipient_user_id"], start["recipient_team_id"]) == ("U0MAYA0001", "T0PLAYGRND")
    assert house.called("chat.appendStream")
    assert len(house.called("chat.stopStream")) == 1
    assert not house.called("chat.postMessage")


async def test_a_mention_delivered_four_ways_is_one_question(house: House, bot: SlackService) -> None:
    house.playground.sockets.ack_seconds = 0.5
    house.playground.faults.duplicate_events(times=2)
    house.playground.faults.lose_acks(2)
    ts = await house.say("@footnote how?")
    await house.reply(ts)
    await house.playground.wait_settled()
    deliveries = [d for d in house.playground.deliveries if d.payload["event"]["type"] in ("app_mention", "message")]
    assert sum(delivery.attempts for delivery in deliveries) >= 5
    assert len(house.pipeline.asked) == 1
    assert len(house.replies(ts)) == 1


async def test_a_direct_message_is_answered(house: House, bot: SlackService) -> None:
    ts = await house.say("how are routes registered?", channel="@footnote")
    message = await house.reply(ts, channel=house.playground.workspace.direct("U0MAYA0001", house.playground.workspace.bot.id).id)
    assert message.thread_ts == ts


async def test_what_is_not_said_to_us_is_left_alone(house: House, bot: SlackService) -> None:
    ts = await house.say("@footnote how?")
    await house.reply(ts)
    await house.say("@tomas how?")
    await house.say("thanks", thread_ts=ts)
    await house.playground.say("deploybot", "general", "@footnote how?")
    await house.playground.edit("maya", "engineering", ts, "@footnote how exactly?")
    await house.playground.wait_settled()
    after = await house.say("@footnote and this?")
    await house.reply(after)
    assert [question.text for question in house.pipeline.asked] == ["how?", "and this?"]


async def test_a_follow_up_stands_alone_and_keeps_its_repository(house: House, bot: SlackService) -> None:
    house.repositories = [repository("flask"), repository("gin")]
    ts = await house.say("@footnote in gin: how does recovery work?")
    await house.reply(ts)
    await house.say("@footnote and where is it tested?", thread_ts=ts, user="tomas")
    await house.reply(ts, count=2)
    second = house.pipeline.asked[1]
    assert second.repository.name == "gin"
    assert second.text == "and where is it tested? (about recovery work)"
    assert [turn.question for turn in second.history] == ["how does recovery work?"]


async def test_without_a_repository_the_choices_are_told(house: House, bot: SlackService) -> None:
    house.repositories = [repository("flask"), repository("gin"), repository("secret", audience=("C0SECURITY",))]
    message = await house.reply(await house.say("@footnote how?"))
    assert "`flask`, `gin`" in message.text
    assert "secret" not in json.dumps(message.blocks) + message.text
    assert not house.pipeline.asked


async def test_a_hidden_repository_is_told_like_one_that_does_not_exist(house: House, bot: SlackService) -> None:
    house.repositories = [repository("flask"), repository("secret", audience=("C0SECURITY",))]
    hidden = await house.reply(await house.say("@footnote repo:secret how?"))
    missing = await house.reply(await house.say("@footnote repo:nothing how?"))
    assert hidden.text.replace("secret", "X") == missing.text.replace("nothing", "X")


async def test_a_mention_without_words_is_told_what_to_ask(house: House, bot: SlackService) -> None:
    message = await house.reply(await house.say("@footnote"))
    assert "`flask`" in message.text
    assert not house.pipeline.asked


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.NotIndexed("flask", "index it"), "not been indexed"),
        (errors.IndexMismatch("secret-path", "x"), "another version of Footnote"),
        (errors.RetrievalError("secret-path", "x"), "does not mean"),
        (errors.GeneratorBusy("secret-path", "x"), "rate limit"),
        (errors.GeneratorUnavailable("secret-path", "x"), "cannot be reached"),
        (RuntimeError("secret-path"), "went wrong"),
    ],
)
async def test_a_failure_has_fixed_words_and_a_reference(house: House, bot: SlackService, error: Exception, words: str) -> None:
    house.pipeline.scripts = [Script((), error)]
    message = await house.reply(await house.say("@footnote how?"))
    shown = json.dumps(message.blocks) + message.text
    assert words in shown
    assert "secret-path" not in shown
    assert house.pipeline.asked[0].answer_id in shown
    assert VOTE_ACTION not in shown


async def test_a_first_build_is_told_as_such(house: House, bot: SlackService) -> None:
    house.building = "embed"
    house.pipeline.scripts = [Script((), errors.NotIndexed("x", "y"))]
    message = await house.reply(await house.say("@footnote how?"))
    assert "being indexed for the first time" in message.text


async def test_a_failure_in_the_middle_leaves_what_stands_and_says_so(house: House, bot: SlackService) -> None:
    house.pipeline.scripts = [Script(("Half of it.[1]\n",), errors.GeneratorCut("x", "y"), pause=0.3)]
    ts = await house.say("@footnote how?")
    message = await house.reply(ts)
    assert message.text.startswith("Half of it.[1]\n")
    assert "broke off" in message.text
    assert len(house.replies(ts)) == 1


async def test_an_answer_that_takes_too_long_is_stopped(house: House) -> None:
    house.pipeline.scripts = [Script(("One.\n",), pause=30.0)]
    service = house.service(answer_timeout=0.5)
    await service.start()
    try:
        message = await house.reply(await house.say("@footnote how?"))
        assert "took too long" in message.text
    finally:
        await service.stop()


async def test_an_endless_question_is_cut_and_that_is_said(house: House, bot: SlackService) -> None:
    message = await house.reply(await house.say("@footnote how " + "on and " * 2_000))
    assert len(house.pipeline.asked[0].text) == 4_000
    assert "longer than I read" in json.dumps(message.blocks)
