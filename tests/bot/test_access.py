"""The matrix: place × asker × lookup × repository; and that nothing is retrieved where nothing may be told."""

from __future__ import annotations

import json

import pytest

from bot.access import Place, allows
from bot.slack_service import SlackService
from tests.bot.conftest import House
from tests.bot.scripted import repository

EVERYWHERE, ENGINEERING, DIRECT, NOBODY = (
    repository("everywhere", audience=("*",)),
    repository("engineering", audience=("C0ENGINEER",)),
    repository("direct", audience=("dm",)),
    repository("nobody", audience=()),
)


@pytest.mark.parametrize("problem", ["", "shared", "outsider", "unknown"])
@pytest.mark.parametrize(
    ("channel", "direct", "names"),
    [
        ("C0ENGINEER", False, {"everywhere", "engineering"}),
        ("C0GENERAL1", False, {"everywhere"}),
        ("D0MAYA", True, {"everywhere", "direct"}),
    ],
)
def test_only_the_audience_hears_and_any_doubt_is_a_no(channel: str, direct: bool, names: set[str], problem: str) -> None:
    place = Place(channel, direct, problem)
    heard = {repo.name for repo in (EVERYWHERE, ENGINEERING, DIRECT, NOBODY) if allows(repo, place)}
    assert heard == (set() if problem else names)


@pytest.mark.parametrize(
    ("user", "channel", "words"),
    [
        ("maya", "engineering", ""),
        ("maya", "security", ""),
        ("priya", "engineering", "members of this workspace"),
        ("maya", "partners", "shared with another organisation"),
        ("jonas", "partners", "shared with another organisation"),
    ],
)
async def test_who_asks_where(house: House, bot: SlackService, user: str, channel: str, words: str) -> None:
    ts = await house.say("@footnote how?", user=user, channel=channel)
    message = await house.reply(ts, channel)
    shown = message.text + json.dumps(message.blocks)
    if words:
        assert words in shown
        assert "flask" not in shown
        assert not house.pipeline.asked
    else:
        assert "add_url_rule" in shown


@pytest.mark.parametrize("method", ["conversations.info", "users.info"])
@pytest.mark.parametrize("fault", [{"error": "channel_not_found"}, {"status": 500, "body": "oops", "times": 50}, {"retry_after": 600}])
async def test_a_lookup_that_fails_is_a_no(house: House, bot: SlackService, method: str, fault: dict[str, object]) -> None:
    house.playground.faults.inject(method, **fault)  # type: ignore[arg-type]
    message = await house.reply(await house.say("@footnote how?"), timeout=15)
    assert "could not check" in message.text
    assert "flask" not in message.text
    assert not house.pipeline.asked


async def test_a_channel_that_is_shared_later_hears_nothing_more(house: House, bot: SlackService) -> None:
    await house.reply(await house.say("@footnote how?"))
    house.playground.workspace.channels["C0ENGINEER"].is_ext_shared = True
    message = await house.reply(await house.say("@footnote and now?"))
    assert "shared with another" in message.text
    assert len(house.pipeline.asked) == 1


async def test_a_repository_without_an_audience_is_told_to_nobody(house: House, bot: SlackService) -> None:
    house.repositories = [NOBODY]
    message = await house.reply(await house.say("@footnote repo:nobody how?"))
    assert "No repository may be discussed" in message.text
    assert "nobody`" not in message.text
