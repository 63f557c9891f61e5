"""Every form in which a model could smuggle a link, an image or a ping, written at the end of a draft and read by a Markdown reader."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag.answering.defang import looks_like_address
from rag.answering.draft import Draft
from tests.answering.material import COMMIT, context

ADDRESSES = [
    "https://evil.example/?k=SECRET",
    "http://evil.example",
    "HTTPS://EVIL.EXAMPLE/x",
    "hTTp://evil.example/x",
    "https://user:pass@evil.example/x",
    "https://github.com@evil.example/x",
    "https://xn--80ak6aa92e.com/x",
    "https://еvil.example/x",
    "https://evil.example:8443/a/b?c=d#e",
    "https://1.2.3.4/x",
    "https://[::1]/x",
    "https://0x7f000001/x",
    "https://2130706433/x",
    "https:/evil.example/x",
    "https:evil.example/x",
    "https:\\\\evil.example\\x",
    "https://evil。example/x",
    "https://evil．example/x",
    "ht\u200btps://evil.example/x",
    "https://ev\u00adil.example/x",
    "https:\u2060//evil.example/x",
    "\u202ehttps://evil.example/x",
    "https ://evil.example/x",
    "//evil.example/x",
    "//localhost/x",
    "www.evil.example/x",
    "WWW.EVIL.EXAMPLE",
    "evil.example/x?k=SECRET",
    "evil.example",
    "evil.xn--p1ai",
    "sub.evil.co.uk/x",
    "someone@evil.example",
    "mailto:someone@evil.example",
    "mailto:someone@evil.example?subject=SECRET",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<b>x</b>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "ftp://evil.example/x",
    "ws://evil.example/x",
    "file:///etc/passwd",
    "slack://channel?id=C1",
    "tel:+15551234567",
    "vscode://file/etc/passwd",
    "custom+scheme.x://evil",
    "https&#58;//evil.example/x",
    "https&colon;//evil.example/x",
    "&#104;ttps://evil.example/x",
    "https://evil.example/%2e%2e?k=SECRET",
    "https%3A%2F%2Fevil.example%2Fx",
    "https://evil.example/a_(b)?k=SECRET",
    "https://evil.example/é?k=SECRET",
    "xhttps://evil.example/x",
    "1https://evil.example/x",
    "127.0.0.1/x",
    "https:",
    "any:thing",
    "someone@localhost",
]
WRAPPERS = [
    "{}",
    "see {}, please",
    "({})",
    "**{}**",
    "_{}_",
    '"{}"',
    "- {}",
    "> {}",
    "# {}",
    "1. {}",
    "| {} | x |",
    "[details]({})",
    "[details](<{}>)",
    '[details]({} "title")',
    "[](  {}  )",
    "[**de`ta`ils**]({})",
    "[![inner]({})]({})",
    "![image]({})",
    "[nested [label]]({})",
    "[1]({})",
    "[see [1]]({})",
    "[9]({})",
    "<{}>",
    "<{}|details>",
    "<{}|https://github.com/real>",
    '<a href="{}">details</a>',
    "<img src={}>",
    "[details][ref]\n\n[ref]: {}",
    "[ref]\n\n[ref]: <{}>",
    "[1]: {}",
    "  [1]:\n {}",
    "> [x]: {}",
    "[details](\n{})",
    "`open {}",
    "``open {} `",
    "\\`{}\\`",
    "`` ` `` {}",
    "a`b`{}",
    "```\nfenced\n```\n{}",
    "````\n```\n````\n{}",
    "~~~\nx\n~~~\n{}",
    "text ```{}",
    "\\[details]({})",
    "[details]\\({})",
    "[details] ({})",
    "<[9]{}>",
    "[de[9]tails]({})",
    "x]({})",
    "`x`]({})",
    "[`x`]({})",
]
PINGS = [
    "<!channel>",
    "<!here>",
    "<!everyone>",
    "<!channel|channel>",
    "<!here|here>",
    "<@U0123ABCD>",
    "<@W0123ABCD|bob>",
    "<#C0123ABCD>",
    "<#C0123ABCD|general>",
    "<!subteam^S0123ABCD>",
    "<!subteam^S0123ABCD|@team>",
    "<!date^1392734382^{date}^https://evil.example/|x>",
    "@channel",
    "@here",
    "@Everyone",
    "<!\u200bchannel>",
    "<[9]!channel>",
    "<`!channel>",
    "`<!channel>`",
    "```\n<!here> @channel\n```",
    "`a` <!channel> `b`",
    "<<!channel>>",
    "<!cha[9]nnel>",
    "< !channel>",
    "<!channel",
]

LIVE_ANYWHERE = re.compile(
    r"[a-z][a-z0-9+.-]+:[/\\]{2}|https?:[\w/\\]|<[!@#](?:channel|here|everyone|subteam|date|[UWC][A-Z0-9])|@(?:here|channel|everyone)\b",
    re.IGNORECASE,
)
DOTTED = re.compile(r"[\w-]+\.[^\W\d_]{2,}")


def write(text: str, size: int = 3) -> str:
    draft = Draft(context(), COMMIT, "q")
    raw = f"Cited [1].\n\n{text}\n\nEnd [1]."
    pieces = []
    for start in range(0, len(raw), size):
        pieces += draft.feed(raw[start : start + size])
    pieces += draft.close()
    assert "".join(piece.text for piece in pieces).strip() == draft.text
    return draft.text


def outside_code(text: str) -> str:
    """By the simplest reading there is: fences are whole lines, spans lie between two backticks of one line."""
    text = re.sub(r"^```[^\n]*\n.*?^```$", " ", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`", " ", text)


def assert_harmless(text: str) -> None:
    assert not LIVE_ANYWHERE.search(text), text
    plain = outside_code(text)
    assert "`" not in plain, text
    assert not DOTTED.search(plain), text
    assert "](" not in plain, text
    assert not re.search(r"<[!@#]", plain), text
    tokens = [token.type for block in MarkdownIt("commonmark", {"html": False}).parse(text) for token in (block.children or [])]
    assert not {"link_open", "image", "html_inline"} & set(tokens), text


def test_there_are_far_more_than_two_hundred_forms() -> None:
    assert len(ADDRESSES) * len(WRAPPERS) > 2500


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_no_foreign_address_is_live(wrapper: str) -> None:
    for address in ADDRESSES:
        assert_harmless(write(wrapper.replace("{}", address)))


@pytest.mark.parametrize("ping", PINGS)
def test_no_ping_is_live(ping: str) -> None:
    assert_harmless(write(f"Hello {ping} there"))


ALPHABET = [
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "!",
    "`",
    "```",
    "\n",
    " ",
    ":",
    "//",
    "https",
    "evil.example",
    "|",
    "\\",
    "@here",
    "<!channel>",
    "[1]",
    "[9]",
    "x",
    "&",
    "#",
    "~~~",
    "-",
    "\u200b",
    "www.",
    "*",
]


@given(st.lists(st.sampled_from(ALPHABET), max_size=30).map("".join), st.integers(1, 5))
def test_no_mixture_of_these_is_live(text: str, size: int) -> None:
    draft = Draft(context(), COMMIT, "q")
    raw = f"Cited [1].\n{text}"
    for start in range(0, len(raw), size):
        draft.feed(raw[start : start + size])
    draft.close()
    assert_harmless(draft.text)


def test_a_link_keeps_its_label_and_loses_its_target() -> None:
    text = write("See [details](https://evil.example/?k=SECRET) and ![a picture](http://evil.example/p.png).")
    assert "See details (link removed) and a picture (image removed)." in text
    assert "evil" not in text


def test_an_address_stays_readable() -> None:
    assert "`https[:]//flask.example/docs`." in write("Read https://flask.example/docs.")


def test_ordinary_words_are_left_alone() -> None:
    kept = "It is 3.5 times faster, e.g. on v2; see x/y and a:b, i.e. List<String> & Map<K, V> [1]."
    assert kept in write(kept)


def test_code_stays_code() -> None:
    block = "```html\n<!-- a comment -->\n<!DOCTYPE html>\nif a < b: x[1](y)\n```"
    assert block in write(block)
    assert "`vector<int>`" in write("A `vector<int>` [1].")


@pytest.mark.parametrize(
    ("token", "expected"), [("app.run", True), ("3.11", False), ("a:b", False), ("v1.2", False), ("std::vector", False), ("//x", True)]
)
def test_what_counts_as_an_address(token: str, expected: bool) -> None:
    assert looks_like_address(token) is expected


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[a](",
        "](",
        "<",
        "`",
        "``a`",
        "[1",
        "!<",
        "<!a|",
        "a.b",
        "https:",
        "@",
        "&#",
        "((",
        "【",
        "[^1,",
        ". ",
        "~~~\n",
        "> ",
        "[]()",
        "-.-",
    ],
)
def test_hostile_repetition_is_read_in_bounded_time(unit: str) -> None:
    draft = Draft(context(), COMMIT, "q")
    started = time.process_time()
    draft.feed("A [1].\n" + unit * (20_000 // len(unit)))
    draft.close()
    assert time.process_time() - started < 2.0
