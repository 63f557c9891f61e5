from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import render
from bot.render import Message, answer_message, citation_line, escape, notice_message, parts_of, posted_blocks, safe_url, vote_value
from bot.services import RepositoryStatus
from bot.views import status_text
from playground.blocks import check_blocks
from rag.types import Twin
from tests.bot.scripted import BUILT, answer, citation, index

LIVE = re.compile(r"<[!@#]")
HOSTILE = [
    "<!channel>",
    "<!here>",
    "<@U0MAYA0001>",
    "<#C0GENERAL1|general>",
    "<!subteam^S1>",
    "<https://evil.example/?k=1|docs>",
    "&lt;!channel&gt;",
]
texts = st.text(max_size=400) | st.lists(st.sampled_from([*HOSTILE, "<", ">", "&", "`", "```\n", "\n", "|", "a b", "é"]), max_size=30).map(
    "".join
)


def everything(message: Message) -> str:
    blocks = [block for part in parts_of(message.body) for block in posted_blocks(part, message.tail)]
    return json.dumps([blocks, message.summary], ensure_ascii=False)


@given(texts, texts, texts)
def test_nothing_that_comes_in_is_live_on_the_way_out(text: str, path: str, notice: str) -> None:
    made = answer(
        "id",
        text,
        citations=(citation(path=path), citation(2, path, f"https://github.com/{path}")),
        generator=notice,
        repository=path,
        notices=(notice,),
        ungrounded=(text,),
    )
    out = everything(answer_message(made, BUILT, (text,)))
    assert not LIVE.search(out)
    links = re.findall(r"<([^>]*)>", out)
    assert all(link.startswith("https://github.com/") for link in links)


@given(texts)
def test_escaping_loses_no_visible_text(text: str) -> None:
    visible = "".join(char for char in text.replace("\r\n", "\n") if char in "\n\t" or char.isprintable() or char in "\u200d\u00a0\u3000")
    assert html.unescape(escape(visible).replace("&amp;", "&amp;")) == visible
    assert not set("<>") & set(escape(text))


@given(st.integers(1, 60), st.integers(0, 30_000), st.text(max_size=300) | st.text(alphabet="&<", min_size=200, max_size=300))
def test_every_part_is_within_slacks_limits(count: int, length: int, path: str) -> None:
    made = answer(
        "id",
        "word & <b> " * (length // 11 + 1),
        citations=tuple(citation(n, path, f"https://h/{path}") for n in range(1, count)),
        notices=(path,) * 12,
    )
    message = answer_message(made, BUILT)
    parts = parts_of(message.body)
    assert len(parts) <= render.MAX_PARTS
    assert len(message.summary) <= render.SUMMARY_LIMIT
    for part in parts:
        check_blocks(posted_blocks(part, message.tail))  # as the workspace does; raises what Slack would


def test_an_answer_longer_than_a_thread_says_that_it_was_cut() -> None:
    parts = parts_of("word " * 20_000)
    assert len(parts) == render.MAX_PARTS
    assert "left out" in parts[-1]
    assert all(len(part) <= render.BODY_LIMIT for part in parts)


def test_more_footnotes_than_fit_are_counted() -> None:
    message = answer_message(answer(citations=tuple(citation(n) for n in range(1, 61))), BUILT)
    tail = json.dumps(message.tail, ensure_ascii=False)
    assert f"and {60 - tail.count('src/app.py:10-20')} more footnotes" in tail
    assert tail.count("src/app.py:10-20") > 25


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://github.com/a/b/blob/c/x.py#L1-L2", "https://github.com/a/b/blob/c/x.py#L1-L2"),
        ("http://127.0.0.1:8/source/a%20b", "http://127.0.0.1:8/source/a%20b"),
        ("https://h/a|b>c d", "https://h/a%7Cb%3Ec%20d"),
        ("https://h/?a=1&b=2", "https://h/?a=1&amp;b=2"),
        ("javascript:alert(1)", ""),
        ("", ""),
        ("https://h/" + "a" * 3000, ""),
    ],
)
def test_only_an_address_becomes_a_link(url: str, safe: str) -> None:
    assert safe_url(url) == safe


def test_a_citation_without_a_permalink_shows_its_place() -> None:
    assert citation_line(citation(3, "a.py", "")) == "[3] `a.py:10-20` `0123456`"


def test_a_citation_names_one_place_with_the_same_text() -> None:
    twins = (Twin("fork/<a>.py", 1, 9, "https://h/fork"), Twin("v1/a.py", 2, 9, ""))
    one = citation_line(replace(citation(3, "a.py", ""), also=twins[:1]))
    assert one == "[3] `a.py:10-20` `0123456` · also in <https://h/fork|fork/&lt;a&gt;.py:1-9>"
    assert citation_line(replace(citation(3, "a.py", ""), also=twins)) == f"{one} and 1 more"
    long = replace(
        citation(3, "a.py", ""), also=(Twin("x" * 200, 1, 2, "https://h/" + "a" * 1_950),) * 2, permalink="https://h/" + "a" * 1_950
    )
    assert len(citation_line(long)) < 3_000


def test_the_footer_says_what_was_read_and_by_whom() -> None:
    made = answer(
        generator="groq/llama", dropped_citations=2, ungrounded=("frob",), notices=("Look twice.",), index=index(dense_ready=False)
    )
    footer = json.dumps(render.footer_block(made, BUILT + timedelta(hours=3)), ensure_ascii=False)
    for words in (
        "`flask` at `0123456` (main)",
        "3 hours ago",
        "written by groq/llama",
        "2 footnote numbers",
        "`frob`",
        "Look twice.",
        "being built",
    ):
        assert words in footer
    said = answer(index=index(dense_ready=False), notices=("The index is still being built.",))
    assert json.dumps(render.footer_block(said, BUILT)).count("being built") == 1
    other = "It was written by a, and b is configured."
    said = answer(index=replace(index(dense_ready=False), notices=(other,)), notices=(other,))
    assert "being built" not in json.dumps(render.footer_block(said, BUILT))
    assert json.dumps(render.footer_block(said, BUILT)).count("b is configured") == 1
    assert "no model wrote this" in json.dumps(render.footer_block(answer(), BUILT))


def test_status_says_why_an_index_is_not_as_it_should_be() -> None:
    other = "It was written by <a>, and b is configured."
    said = status_text([RepositoryStatus("flask", "0123456" * 5, BUILT, 100, dense_ready=False, notices=(other,))], "", BUILT)
    assert "100 chunks. It was written by &lt;a&gt;, and b is configured." in said
    assert "sparse part only" not in said
    assert "sparse part only" in status_text([RepositoryStatus("flask", "0123456" * 5, BUILT, 100)], "", BUILT)


def test_a_message_survives_its_storage() -> None:
    message = answer_message(answer(), BUILT)
    assert Message.from_json(message.to_json()) == message
    assert Message.from_json(notice_message("No.", "ref").to_json()) == notice_message("No.", "ref")


def test_a_vote_button_carries_the_answer() -> None:
    buttons = render.vote_block("a-1")["elements"][0]
    assert vote_value(buttons["positive_button"]["value"]) == ("a-1", 1)
    assert vote_value(buttons["negative_button"]["value"]) == ("a-1", -1)
    assert vote_value("sideways:a-1") is None
    assert vote_value("up:") is None


@pytest.mark.parametrize(
    ("passed", "words"), [(0, "just now"), (60, "1 minute ago"), (7200, "2 hours ago"), (90_000, "1 day ago"), (-5, "just now")]
)
def test_age(passed: int, words: str) -> None:
    assert render.age(BUILT, BUILT + timedelta(seconds=passed)) == words


@given(st.text(alphabet="&<>abc;", max_size=300), st.integers(10, 100))
def test_cutting_halves_no_entity(text: str, limit: int) -> None:
    kept = render.cut(escape(text), limit)
    assert len(kept) <= limit
    assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", kept)
