from __future__ import annotations

from typing import Any

import pytest

from bot.incoming import QuestionKey, parse_question, plain_text
from rag.retrieval.query import understand

BOT = "U0BOT"


def body(kind: str = "app_mention", **event: Any) -> dict[str, Any]:
    full = {"type": kind, "user": "U1", "text": f"<@{BOT}> how?", "ts": "1.000100", "channel": "C1", "team": "T1", **event}
    return {"type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": "Ev1", "event": full}


def test_a_mention_and_its_twin_are_one_question() -> None:
    mention = parse_question(body(), BOT)
    twin = parse_question(body("message", channel_type="channel"), BOT)
    assert mention is not None
    assert mention == twin
    assert mention.key == QuestionKey("A1", "T1", "C1", "1.000100")
    assert (mention.text, mention.thread, mention.direct) == ("how?", "1.000100", False)


@pytest.mark.parametrize(
    "event",
    [
        {"user": BOT},
        {"bot_id": "B1"},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
        {"text": "how?"},
        {"text": "<@U2> how?"},
        {"user": None},
        {"ts": ""},
        {"text": 5},
    ],
)
def test_what_is_no_question_to_us(event: dict[str, Any]) -> None:
    assert parse_question(body("message", channel_type="channel", **event), BOT) is None


def test_a_direct_message_needs_no_mention() -> None:
    direct = parse_question(body("message", channel_type="im", channel="D1", text="how?", subtype=None), BOT)
    assert direct is not None
    assert direct.direct


def test_a_message_in_a_thread_knows_its_thread_and_whose_it_is() -> None:
    incoming = parse_question(body(thread_ts="0.000001", user_team="T9") | {"is_ext_shared_channel": True}, BOT)
    assert incoming is not None
    assert (incoming.thread, incoming.user_team, incoming.shared) == ("0.000001", "T9", True)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (f"<@{BOT}> how?", "how?"),
        (f"<@{BOT}|footnote>: how?", "how?"),
        (f"Hey <@{BOT}> , see <@U2|ada> and <#C1|general>", "Hey , see @ada and #general"),
        ("&lt;b&gt; &amp;lt;", "<b> &lt;"),
        ("see <https://example.org/a|the docs> and <https://example.org>", "see the docs and https://example.org"),
        ("<!here> look", "@here look"),
        ("line one\nline two  ", "line one\nline two"),
    ],
)
def test_markup_becomes_what_the_person_saw(text: str, plain: str) -> None:
    assert plain_text(text, BOT) == plain


@pytest.mark.parametrize(
    "text",
    [
        "<@U0ABCDEFG> hey folks :wave: where are doors opened? thx!",
        "cc <@U0ABCDEFG> <!here>\n&gt; where are doors opened?",
        "*where are doors opened?* (see <https://example.org/x|the page>)",
        "where is Vec&lt;Door&gt; opened, <@U0ABCDEFG>?",
        "“where are doors opened?”\u00a0… asking for <#C0ABCDEFG|depot> 🙏",
        "where are doors opened? path:src/** lang:go <https://host.example/a/b/blob/main/src/door.py#L3>",
    ],
)
def test_slack_and_the_command_line_are_understood_alike(text: str) -> None:
    from_slack, typed = understand(plain_text(text)), understand(text)
    assert (from_slack.terms, from_slack.filters, from_slack.places) == (typed.terms, typed.filters, typed.places)
    assert from_slack.embedded == typed.embedded
