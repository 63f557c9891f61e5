"""Block Kit's limits, each at its edge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.blocks import Surface, check_blocks, stored_blocks, text_length
from playground.errors import SlackError


def problem(blocks: list[dict[str, Any]], surface: Surface = "message") -> tuple[str, list[str]]:
    try:
        check_blocks(blocks, surface)
    except SlackError as error:
        return error.code, list(error.messages)
    return "", []


def mrkdwn(length: int) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": "x" * length}


def plain(length: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": "x" * length}


def section(length: int) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn(length)}


def button(**changes: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(3), "action_id": "a", **changes}


def actions(*elements: dict[str, Any], kind: str = "actions") -> dict[str, Any]:
    return {"type": kind, "elements": list(elements)}


def thumbs(**changes: Any) -> dict[str, Any]:
    side = {"text": plain(4), "value": "v"}
    return {"type": "feedback_buttons", "action_id": "fb", "positive_button": side, "negative_button": side, **changes}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (section(3_000), section(3_001)),
        ({"type": "section", "fields": [mrkdwn(2_000)] * 3}, {"type": "section", "fields": [mrkdwn(2_001)]}),
        ({"type": "section", "fields": [mrkdwn(1)] * 10}, {"type": "section", "fields": [mrkdwn(1)] * 11}),
        ({"type": "header", "text": plain(150)}, {"type": "header", "text": plain(151)}),
        ({"type": "header", "text": plain(1)}, {"type": "header", "text": mrkdwn(1)}),
        ({"type": "markdown", "text": "x" * 12_000}, {"type": "markdown", "text": "x" * 12_001}),
        ({"type": "markdown", "text": "x"}, {"type": "markdown", "text": ""}),
        ({"type": "context", "elements": [mrkdwn(1)] * 10}, {"type": "context", "elements": [mrkdwn(1)] * 11}),
        (actions(*(button(action_id=str(n)) for n in range(25))), actions(*(button(action_id=str(n)) for n in range(26)))),
        (actions(button(text=plain(75))), actions(button(text=plain(76)))),
        (actions(button(value="x" * 2_000)), actions(button(value="x" * 2_001))),
        (actions(button(action_id="x" * 255)), actions(button(action_id="x" * 256))),
        (actions(button(url="https://example.com")), actions(button(url="javascript:alert(1)"))),
        (actions(button(style="danger")), actions(button(style="gaudy"))),
        (actions(button(), button(action_id="b")), actions(button(), button())),
        (actions(thumbs(), kind="context_actions"), actions(thumbs())),
        (actions(thumbs(), kind="context_actions"), actions(button(), kind="context_actions")),
        (actions(thumbs(), kind="context_actions"), actions(thumbs(positive_button={"text": plain(4)}), kind="context_actions")),
        (
            actions(*(thumbs(action_id=str(n)) for n in range(5)), kind="context_actions"),
            actions(*(thumbs(action_id=str(n)) for n in range(6)), kind="context_actions"),
        ),
        ({"type": "divider", "block_id": "x" * 255}, {"type": "divider", "block_id": "x" * 256}),
        ({"type": "divider"}, {"type": "curtain"}),
        ({"type": "divider"}, {}),
        (
            {**section(1), "accessory": {"type": "static_select", "action_id": "s", "options": [{"text": plain(75), "value": "v"}]}},
            {**section(1), "accessory": {"type": "static_select", "action_id": "s", "options": [{"text": plain(76), "value": "v"}]}},
        ),
    ],
)  # fmt: skip
def test_what_is_just_allowed_and_what_is_not(good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert problem([good]) == ("", [])
    code, messages = problem([bad])
    assert code == "invalid_blocks"
    assert len(messages) == 1
    assert messages[0].startswith("[ERROR] ")
    assert "[json-pointer:/blocks/0" in messages[0]


def test_fifty_blocks_and_no_more() -> None:
    assert problem([{"type": "divider"}] * 50) == ("", [])
    assert problem([{"type": "divider"}] * 51) == ("invalid_blocks", ["[ERROR] no more than 50 items allowed [json-pointer:/blocks]"])
    assert problem([{"type": "divider"}] * 51, "home") == ("", [])


def test_every_problem_is_named_at_once() -> None:
    code, messages = problem([section(3_001), {"type": "header", "text": plain(151)}])
    assert code == "invalid_blocks"
    assert messages == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
        "[ERROR] must be less than 151 characters [json-pointer:/blocks/1/text/text]",
    ]


def test_legal_blocks_may_be_too_long_together() -> None:
    assert problem([section(3_000)] * 4) == ("", [])
    assert problem([section(3_000)] * 5) == ("msg_blocks_too_long", [])
    assert problem([{"type": "markdown", "text": "x" * 6_001}] * 2) == ("msg_blocks_too_long", [])


def test_some_blocks_belong_to_messages_only() -> None:
    assert problem([{"type": "markdown", "text": "x"}], "home")[0] == "invalid_arguments"
    assert problem([actions(thumbs(), kind="context_actions")], "home")[0] == "invalid_arguments"


def test_a_block_id_may_not_be_used_twice() -> None:
    assert problem([{"type": "divider", "block_id": "a"}, {"type": "divider", "block_id": "a"}])[0] == "invalid_blocks"


def test_every_stored_block_has_an_id_and_a_markdown_block_never_its_own() -> None:
    ids = iter("123")
    stored = stored_blocks(
        [{"type": "divider"}, {"type": "divider", "block_id": "mine"}, {"type": "markdown", "text": "x", "block_id": "lost"}],
        lambda: next(ids),
    )
    assert [block["block_id"] for block in stored] == ["1", "mine", "2"]


@given(st.lists(st.integers(min_value=1, max_value=3_000), max_size=8))
def test_text_is_counted_once(lengths: list[int]) -> None:
    assert text_length([section(length) for length in lengths]) == sum(lengths)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "elements", "fields", "url", "value"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.sampled_from(["section", "header", "context", "actions", "context_actions", "markdown", "input", "table"]),
    st.dictionaries(st.sampled_from(["text", "elements", "fields", "accessory", "label", "element", "block_id"]), json_values, max_size=4),
)
def test_no_shape_of_block_breaks_the_check(kind: str, rest: dict[str, Any]) -> None:
    code, _ = problem([{"type": kind, **rest}])
    assert code in ("", "invalid_blocks", "msg_blocks_too_long")
