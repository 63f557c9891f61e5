"""A person in front of the page, in headless Chromium."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Page, expect
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground
from playground.defaults import ENGINEERING, MAYA, TEAM_ID
from tests.playground.browser import chromium_page
from tests.playground.echo_bot import THUMBS

pytestmark = pytest.mark.browser
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = "\n".join(f"line_{number} = <b>{number}</b>  # & so on" for number in range(1, 301))


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    async def read(repository: str, commit: str, path: str) -> str:
        if path.startswith("gone"):
            raise LookupError(f"{path} is not in {repository} at {commit[:10]}.")
        return SOURCE

    async with Playground(read_source=read) as running:
        yield running


def cite(playground: Playground, path: str, lines: str) -> str:
    return f"{playground.url}/source/flask/blob/{COMMIT}/{path}#{lines}"


async def post(client: AsyncWebClient, text: str, **more: Any) -> None:
    await client.chat_postMessage(channel=ENGINEERING, text="x", blocks=[{"type": "markdown", "text": text}], **more)


async def test_a_question_is_typed_streamed_and_voted_on(playground: Playground, heard: list[dict[str, Any]]) -> None:
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        await expect(page.locator("#connection")).to_have_text("bot connected")
        await page.locator("#composer").fill("@foot")
        await expect(page.locator("#composer-offers [role=option]")).to_have_text(re.compile("@footnote"))
        await page.keyboard.press("Enter")
        await page.keyboard.type("where is the code?")
        await page.keyboard.press("Enter")
        answer = page.locator("#thread-messages .message[data-author=footnote]")
        await expect(answer.locator(".text")).to_have_text("You said: @footnote where is the code?")
        up, down = answer.get_by_role("button", name="Good"), answer.get_by_role("button", name="Bad")
        await expect(up).to_have_attribute("aria-pressed", "false")
        await up.click()
        await expect(up).to_have_attribute("aria-pressed", "true")
        await down.focus()
        await page.keyboard.press("Enter")
        await expect(down).to_have_attribute("aria-pressed", "true")
        await expect(up).to_have_attribute("aria-pressed", "false")
        await expect(down).to_be_focused()
    votes = [body["actions"][0]["value"] for body in heard if body.get("type") == "block_actions"]
    assert votes == ["up:1", "down:1"]


async def test_the_answer_grows_before_the_readers_eyes(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "engineering", "a question")
    started = await client.chat_startStream(channel=ENGINEERING, thread_ts=root, recipient_team_id=TEAM_ID, recipient_user_id=MAYA)
    stream: dict[str, Any] = {"channel": ENGINEERING, "ts": started["ts"]}
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering&thread={root}")
        answer = page.locator(f'#thread-messages [data-ts="{started["ts"]}"]')
        seen = ""
        for piece in ("The **first** part, ", "the second,\n\n- a point\n", "- another `point`"):
            await client.chat_appendStream(**stream, markdown_text=piece)
            await expect(answer).to_contain_text(re.sub(r"[*`\-]", "", piece).strip().split("\n")[-1].strip())
            shown = await answer.locator(".body").inner_text()
            assert len(shown) > len(seen)
            assert await answer.get_attribute("data-streaming") == "true"
            seen = shown
        await client.chat_stopStream(**stream, blocks=[THUMBS])
        await expect(answer).to_have_attribute("data-streaming", "false")
        await expect(answer.locator("strong").last).to_have_text("first")
        await expect(answer.locator("li")).to_have_count(2)
        await expect(answer.locator(".caret")).to_have_count(0)


async def test_a_citation_opens_its_file_at_the_cited_lines(playground: Playground, client: AsyncWebClient) -> None:
    await post(
        client, f"It is here [1]({cite(playground, 'src/flask/app.py', 'L200-L204')}), not [2]({cite(playground, 'gone.py', 'L1')})."
    )
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        note = page.get_by_role("link", name="Footnote 1")
        await note.focus()
        await page.keyboard.press("Enter")
        cited = page.locator("#source .line.cited")
        await expect(cited).to_have_count(5)
        await expect(cited.first).to_contain_text("line_200 = <b>200</b>  # & so on")
        await expect(cited.first).to_be_in_viewport()
        await expect(cited.last).to_be_in_viewport()
        await expect(page.locator("#source-title")).to_have_text("src/flask/app.py")
        await expect(page.locator("#source .bar p")).to_have_text("lines 200–204 · flask at 0123456789")
        await expect(page.locator("#source b")).to_have_count(0)
        await page.keyboard.press("Escape")
        await expect(page.locator("#source")).to_be_hidden()
        await expect(note).to_be_focused()
        await page.get_by_role("link", name="Footnote 2").click()
        await expect(page.locator("#source [role=alert]")).to_have_text("gone.py is not in flask at 0123456789.")
        await page.goto(cite(playground, "src/flask/app.py", "L10-L20"))
        await expect(page.locator(".line.cited")).to_have_count(11)
        await expect(page.locator(".line.cited").first).to_be_in_viewport()


async def test_numbers_in_an_answer_lead_where_its_footnotes_do(playground: Playground, client: AsyncWebClient) -> None:
    place = cite(playground, "src/a.py", "L7-L9")
    body = {"type": "markdown", "text": "It is there [1], not in `list[1]` nor [2].\n\n" + "A long answer.\n\n" * 40}
    footnotes = {"type": "section", "text": {"type": "mrkdwn", "text": f"[1] <{place}|src/a.py:7-9> `0123456`", "verbatim": True}}
    root = await playground.say("maya", "engineering", "a question")
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering&thread={root}")
        await expect(page.locator("#thread-messages .message")).to_have_count(1)
        await client.chat_postMessage(channel=ENGINEERING, thread_ts=root, text="x", blocks=[body, footnotes])
        answer = page.locator("#thread-messages .message").last
        await expect(answer.locator("code").first).to_have_text("list[1]")
        await expect(answer.locator(".byline")).to_be_in_viewport()  # reading starts at the beginning
        await expect(answer.locator("a.note")).to_have_count(2)
        await expect(answer.locator("span.note")).to_have_text("2")
        await answer.locator("a.note").first.click()
        await expect(page.locator(".line.cited").first).to_contain_text("line_7 =")


HOSTILE = (
    "<img src=x onerror=alert(1)> <script>alert(1)</script> [a](javascript:alert(1)) [b](data:text/html,x) "
    '![pixel](http://tracker.example/p.png) <javascript:alert(1)> &lt;b&gt;not bold&lt;/b&gt; [c](https://example.com/?q="onclick=alert(1))'
)


async def test_hostile_text_stays_text(playground: Playground, client: AsyncWebClient) -> None:
    await post(client, HOSTILE)
    await client.chat_postMessage(channel=ENGINEERING, text=HOSTILE.replace("&", "&amp;").replace("<", "&lt;"))
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "<javascript:alert(1)|click> <https://example.com|fine> *<b>bold*"}}
    button = {"type": "button", "text": {"type": "plain_text", "text": "<i>press</i>"}, "action_id": "x"}
    await client.chat_postMessage(channel=ENGINEERING, text="x", blocks=[section, {"type": "actions", "elements": [button]}])
    await playground.say("maya", "engineering", HOSTILE)
    async with chromium_page() as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        await page.goto(f"{playground.url}/#in=engineering")
        await expect(page.locator("#messages .message")).to_have_count(4)
        assert await page.locator("#messages script, #messages .body img, #messages b, #messages i, #messages iframe").count() == 0
        links = await page.locator("#messages a").evaluate_all("links => links.map(link => link.getAttribute('href') ?? '')")
        assert links
        assert all(link.startswith(("http://", "https://")) for link in links)
        assert await page.locator("#messages [onclick], #messages [onerror]").count() == 0
        await expect(page.locator("#messages .message").first).to_contain_text("<script>alert(1)</script>")
        assert [url for url in requests if not url.startswith(playground.url)] == []


async def test_a_command_is_answered_where_only_its_person_sees_it(playground: Playground, heard: list[dict[str, Any]]) -> None:
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        await page.locator("#composer").fill("/repo list")
        await page.keyboard.press("Enter")
        private = page.locator(".message.private")
        await expect(private).to_have_count(2)
        await expect(private.first).to_contain_text("Only visible to you")
        await expect(private.filter(has_text="acked list")).to_have_count(1)
        await page.locator("#composer").fill("/nonsense")
        await page.keyboard.press("Enter")
        await expect(page.locator("#main .problem")).to_have_text("/nonsense is not a command here: there is /repo.")
        await page.locator("#acting").select_option(label="Tomas Lind")
        await expect(page.locator("#channel-name")).to_contain_text("engineering")
        await expect(private).to_have_count(0)
        await expect(page.locator(".entry", has_text="security")).to_have_count(0)


async def test_the_home_tab_and_its_buttons(playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Refresh"}, "action_id": "vote", "value": "1"}
    header = {"type": "header", "text": {"type": "plain_text", "text": "Repositories"}}
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        await page.locator("#app-entry").click()
        await expect(page.locator("#home")).to_contain_text("has not published a Home tab")
        await client.views_publish(user_id=MAYA, view={"type": "home", "blocks": [header, {"type": "actions", "elements": [button]}]})
        await expect(page.locator("#home .header")).to_have_text("Repositories")
        await page.get_by_role("button", name="Refresh").click()
        await playground.wait_for(lambda: [body for body in heard if body.get("type") == "block_actions"])
        await page.get_by_role("button", name="Messages").click()
        await expect(page.locator("#composer")).to_be_visible()
    assert any(body.get("event", {}).get("type") == "app_home_opened" for body in heard)


async def test_a_modal_is_filled_in_and_sent(playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]) -> None:
    from tests.playground.test_surfaces import MODAL

    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        await expect(page.locator("#connection")).to_have_text("bot connected")
        await client.views_open(trigger_id=playground.interactions.trigger(MAYA), view=MODAL)
        await page.get_by_label("Reason").fill("the wrong file")
        await page.get_by_role("button", name="Send", exact=True).last.click()
        await playground.wait_for(lambda: playground.deliveries)
        payload = playground.deliveries[-1].payload
        assert payload["view"]["state"]["values"] == {"reason": {"text": {"type": "plain_text_input", "value": "the wrong file"}}}
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_channel_without_the_bot_offers_to_invite_it(playground: Playground) -> None:
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=random")
        await page.get_by_role("button", name="Invite @footnote").click()
        await expect(page.locator(".welcome")).to_contain_text("Ask @footnote")


async def overflow(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))


async def test_it_fits_narrow_and_wide_windows(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "engineering", "x" * 400)
    place = cite(playground, "a/very/long/path/" * 6 + "app.py", "L100-L110")
    await post(client, f"[1]({place}) `{'y' * 300}`\n```\n{'z' * 300}\n```\n", thread_ts=root)
    async with chromium_page(scheme="dark") as page:
        for width in (1800, 1200, 800, 360):
            await page.set_viewport_size({"width": width, "height": 700})
            await page.goto(f"{playground.url}/?{width}#in=engineering&thread={root}")
            await expect(page.locator("#thread-messages .message")).to_have_count(2)
            assert await overflow(page) <= 0
            await page.get_by_role("link", name="Footnote 1").click()
            await expect(page.locator(".line.cited").first).to_be_in_viewport()
            assert await overflow(page) <= 0
            await page.keyboard.press("Escape")
            await page.keyboard.press("Escape")
            await expect(page.locator("#messages")).to_be_visible()
        await page.get_by_role("button", name="Channels").click()
        await page.locator(".entry", has_text="general").click()
        await expect(page.locator("#channel-name")).to_contain_text("general")


async def test_the_page_comes_back_after_the_playground_does(playground: Playground) -> None:
    async with chromium_page() as page:
        await page.goto(f"{playground.url}/#in=engineering")
        await expect(page.locator("#connection")).to_have_text("no bot connected")
        await playground.stop()
        await expect(page.locator("#connection")).to_have_text("the playground is not running")
        await playground.start()
        await playground.say("maya", "engineering", "back again")
        await expect(page.locator("#messages")).to_contain_text("back again", timeout=10_000)
