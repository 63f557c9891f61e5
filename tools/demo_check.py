"""`make demo-check`: the demo without a screen. Starts the playground, asks one question as a person would, over its page's own endpoints,
prints the answer with its citations, opens each cited place, and exits 0 only if a cited answer came."""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import aiohttp

from bot.repositories import default_name

SOURCE_LINK = re.compile(
    r"/source/(?P<repository>[^/]+)/blob/(?P<commit>[0-9a-f]{7,40})/(?P<path>[^\s#|>\")]+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?"
)
STARTING_POINT = "where does it start"  # what is searched for to find something worth asking about
READY_SECONDS = 900.0  # to clone, cut and index, on a slow machine
ANSWER_SECONDS = 180.0
STOP_SECONDS = 180.0  # a build that has just begun is ended first, on a slow machine too


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", default=".", help="path or URL (default: this one)")
    parser.add_argument("--question", default="", help="default: what a definition does that a search for the starting point brings up")
    options = parser.parse_args()
    name = _name(options.repository)
    started = time.monotonic()
    bot = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "playground", options.repository, "--port", "0", stdout=asyncio.subprocess.PIPE, env=os.environ.copy()
    )
    cited = 0
    try:
        url = await asyncio.wait_for(_address(bot), READY_SECONDS)
        question = options.question or await _question(name)
        print(f"asking {url} after {time.monotonic() - started:.1f} s: {question}\n")
        async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS)) as page:
            messages = await asyncio.wait_for(_ask(page, name, question), ANSWER_SECONDS)
            cited = await _print(page, messages)
        print(f"\n{cited} citations, every one of them opened; {time.monotonic() - started:.1f} s in all")
    except (TimeoutError, aiohttp.ClientError, RuntimeError) as error:
        print(f"demo-check failed: {error or 'no answer in time'}", file=sys.stderr)
        cited = 0
    finally:
        ended = await _stop(bot)
    return 0 if cited and ended else 1


async def _stop(bot: asyncio.subprocess.Process) -> bool:
    """As Ctrl+C does; whether it ended by itself."""
    if bot.returncode is None:
        bot.terminate()
    try:
        await asyncio.wait_for(bot.wait(), STOP_SECONDS)
    except TimeoutError:
        print(f"demo-check failed: the playground did not end within {STOP_SECONDS:.0f} seconds of being told to", file=sys.stderr)
        bot.kill()
        await bot.wait()
        return False
    return True


def _name(source: str) -> str:
    return default_name(str(Path(source).absolute()) if Path(source).exists() else source)


async def _address(bot: asyncio.subprocess.Process) -> str:
    assert bot.stdout is not None
    while line := (await bot.stdout.readline()).decode():
        if found := re.search(r"Open (http://\S+/)", line):
            return found[1]
    raise RuntimeError("the playground did not start; its own words are above")


async def _question(name: str) -> str:
    """A question about a definition of the repository, found as a developer finds one: by searching, beside the running bot."""
    words = ("-m", "bot", "search", STARTING_POINT, "--repo", name, "--json")
    search = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(search.communicate(), ANSWER_SECONDS)
    if search.returncode:
        raise RuntimeError("the search beside the running bot failed; its own words are above")
    definitions = (row for row in json.loads(out) if row["kind"] in ("function", "method", "class") and "test" not in row["path"].lower())
    symbols = [row["symbol"] for row in definitions if row["symbol"]]
    return f"What does {symbols[0]} do?" if symbols else "What is this, and how is it used?"


async def _ask(page: aiohttp.ClientSession, repository: str, question: str) -> list[dict[str, Any]]:
    """Chooses the repository for #general and mentions the bot there; the thread's answer once it is complete."""
    person, channel, asked, answers = "maya", "", "", {}
    async with page.get("/page/events", params={"user": person}) as feed:
        feed.raise_for_status()
        async for name, body in _events(feed):
            if name == "state":
                channel = next(one["id"] for one in body["channels"] if one["name"] == "general")
                chosen = {"user": person, "channel": channel, "command": "/repo", "text": f"use {repository}"}
                (await page.post("/page/command", json=chosen)).raise_for_status()
                said = await page.post("/page/say", json={"user": person, "channel": channel, "text": f"<@{body['bot']}> {question}"})
                said.raise_for_status()
                asked = (await said.json())["ts"]
            elif name == "message" and body.get("thread_ts") == asked and body["ts"] != asked:
                answers[body["ts"]] = body
                if body.get("streaming_state") != "in_progress" and "feedback_buttons" in json.dumps(body.get("blocks", [])):
                    return [answers[ts] for ts in sorted(answers)]
    raise RuntimeError("the page's feed ended before the answer was complete")


async def _events(feed: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    name = ""
    async for raw in feed.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def _print(page: aiohttp.ClientSession, messages: list[dict[str, Any]]) -> int:
    """Print what a reader sees; open every cited place. How many there are. Raises: RuntimeError for one that is not there."""
    shown = "\n".join(text for message in messages for text in _texts(message))
    print(html.unescape(shown))
    links = {found[0]: found for found in SOURCE_LINK.finditer(json.dumps(messages))}
    for link in links.values():
        wanted = {"repository": link["repository"], "commit": link["commit"], "path": unquote(link["path"])}
        async with page.get("/page/source", params=wanted) as response:
            if response.status != 200:
                raise RuntimeError(f"the cited file {wanted['path']} cannot be opened: {await response.text()}")
            lines = (await response.json())["text"].split("\n")
        first, last = int(link["first"]), int(link["last"] or link["first"])
        if not 1 <= first <= last <= len(lines):
            raise RuntimeError(f"{wanted['path']} has no lines {first}-{last}")
        print(f"  opened {wanted['path']}:{first}-{last}  {lines[first - 1].strip()[:80]}")
    return len(links)


def _texts(message: dict[str, Any]) -> Iterator[str]:
    blocks = message.get("blocks") or []
    found = [block.get("text") for block in blocks]
    texts = [text if isinstance(text, str) else (text or {}).get("text", "") for text in found]
    yield from ([text for text in texts if text] or [message.get("text", "")])


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
