"""The page's own endpoints: static files, the feed of changes, what a person does, and the source of a citation."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from playground.acting import Acting
from playground.errors import PlaygroundError, SlackError
from playground.feed import Feeds
from playground.model import Json

logger = logging.getLogger(__name__)
ReadSource = Callable[[str, str, str], Awaitable[str]]
_STATIC = Path(__file__).parent / "static"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_HEARTBEAT_SECONDS = 15.0
_SOURCE_SECONDS = 20.0


class Page:
    """Routes of the page. `acting` does what people do; `read_source` gives a file's text."""

    def __init__(self, acting: Acting, feeds: Feeds, read_source: ReadSource | None) -> None:
        self._acting = acting
        self._feeds = feeds
        self._read_source = read_source
        self._static = {path.name: path for path in _STATIC.iterdir() if path.suffix in _KINDS}

    def add_to(self, app: web.Application) -> None:
        """Register all routes, and let open feeds end when the server does."""
        app.router.add_get("/", self._index)
        app.router.add_get("/static/{name}", self._file)
        app.router.add_get("/page/events", self._events)
        app.router.add_get("/page/source", self._source_text)
        app.router.add_post("/page/{action}", self._act)
        app.router.add_get(r"/source/{repository:.+?}/blob/{commit:[^/]+}/{path:[\s\S]+}", self._source_page)
        app.router.add_get("/archives/{channel}/{message}", self._permalink)
        app.on_shutdown.append(self._end_feeds)

    async def _end_feeds(self, app: web.Application) -> None:
        self._feeds.end_all()

    # files

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return self._send("index.html")

    async def _source_page(self, request: web.Request) -> web.StreamResponse:
        return self._send("source.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return self._send(request.match_info["name"])

    async def _permalink(self, request: web.Request) -> web.StreamResponse:
        """chat.getPermalink's address leads to the channel's thread."""
        digits = request.match_info["message"].removeprefix("p")
        ts = request.query.get("thread_ts") or f"{digits[:-6]}.{digits[-6:]}"
        raise web.HTTPFound(f"/#in={request.match_info['channel']}&thread={ts}")

    def _send(self, name: str) -> web.StreamResponse:
        path = self._static.get(name)
        if path is None:
            raise web.HTTPNotFound(text="There is no such file.")
        return web.FileResponse(path, headers={"Content-Type": f"{_KINDS[path.suffix]}; charset=utf-8"})

    # the feed

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """GET /page/events?user=…: server-sent events, `state` first."""
        person = next((one for one in self._acting.workspace.people.values() if request.query.get("user") in (one.id, one.name)), None)
        if person is None or person.is_bot:
            raise web.HTTPNotFound(text="There is no such person.")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        feed = self._feeds.open(person)
        try:
            while True:
                try:
                    async with asyncio.timeout(_HEARTBEAT_SECONDS):
                        item = await feed.queue.get()
                except TimeoutError:
                    await response.write(b": still here\n\n")
                    continue
                if item is None:
                    break
                name, body = item
                await response.write(f"event: {name}\ndata: {json.dumps(body)}\n\n".encode())
        except ConnectionError:
            logger.debug("playground: a page went away")
        finally:
            self._feeds.close(feed)
        return response

    # doing

    async def _act(self, request: web.Request) -> web.Response:
        """POST /page/<action> with a JSON object. 200 with what came of it, 400 with `error` for what cannot be done."""
        work = self._ACTIONS.get(request.match_info["action"])
        if work is None:
            raise web.HTTPNotFound(text="There is no such action.")
        try:
            body = await request.json()
            if not isinstance(body, dict):
                raise PlaygroundError("The body must be a JSON object.")
            return web.json_response(await work(self, body))
        except PlaygroundError as error:
            return web.json_response({"error": str(error)}, status=400)
        except SlackError as error:
            return web.json_response({"error": f"Slack refuses: {error.code}."}, status=400)
        except (ValueError, KeyError, TypeError) as error:
            return web.json_response({"error": f"The request is misshapen: {error}."}, status=400)

    async def _say(self, body: Json) -> Json:
        thread = str(body["thread_ts"]) if body.get("thread_ts") else None
        return {"ts": await self._acting.say(str(body["user"]), str(body["channel"]), str(body["text"]), thread)}

    async def _command(self, body: Json) -> Json:
        thread = str(body["thread_ts"]) if body.get("thread_ts") else None
        command, text = str(body["command"]), str(body.get("text", ""))
        delivery = await self._acting.command(str(body["user"]), str(body["channel"]), command, text, thread)
        return {"acknowledged": delivery.acknowledged}

    async def _click(self, body: Json) -> Json:
        value = None if body.get("value") is None else str(body["value"])
        if body.get("home"):
            delivery = await self._acting.click_home(str(body["user"]), str(body["action_id"]), value)
        else:
            place = (str(body["user"]), str(body["channel"]), str(body["ts"]))
            delivery = await self._acting.click(*place, str(body["action_id"]), value)
        return {"acknowledged": delivery.acknowledged}

    async def _react(self, body: Json) -> Json:
        work = self._acting.unreact if body.get("remove") else self._acting.react
        await work(str(body["user"]), str(body["channel"]), str(body["ts"]), str(body["name"]))
        return {}

    async def _home(self, body: Json) -> Json:
        await self._acting.open_home(str(body["user"]), str(body.get("tab", "home")))
        return {}

    async def _direct(self, body: Json) -> Json:
        first, second = (self._acting.workspace.person(str(body[name])).id for name in ("user", "other"))
        return {"channel": self._acting.workspace.direct(first, second).id}

    async def _invite(self, body: Json) -> Json:
        await self._acting.join(str(body["person"]), str(body["channel"]), str(body["user"]))
        return {}

    async def _stop(self, body: Json) -> Json:
        await self._acting.stop_stream(str(body["user"]), str(body["channel"]), str(body["thread_ts"]))
        return {}

    async def _submit(self, body: Json) -> Json:
        delivery = await self._acting.submit(str(body["user"]), str(body["view_id"]), dict(body["values"]))
        return {"acknowledged": delivery.acknowledged, "response": delivery.response}

    async def _dismiss(self, body: Json) -> Json:
        self._acting.interactions.close_modal(str(body["view_id"]))
        return {}

    _ACTIONS: dict[str, Callable[[Any, Json], Awaitable[Json]]] = {  # noqa: RUF012 - never changed
        "say": _say,
        "command": _command,
        "click": _click,
        "react": _react,
        "home": _home,
        "direct": _direct,
        "invite": _invite,
        "stop": _stop,
        "submit": _submit,
        "dismiss": _dismiss,
    }

    # sources

    async def _source_text(self, request: web.Request) -> web.Response:
        """GET /page/source?repository=…&commit=…&path=…: `{"text": …}`, or 404 with `error`."""
        if self._read_source is None:
            return web.json_response({"error": "This playground was started without a way to read sources."}, status=404)
        asked = [request.query.get(name, "") for name in ("repository", "commit", "path")]
        try:
            async with asyncio.timeout(_SOURCE_SECONDS):
                text = await self._read_source(*asked)
        except Exception as error:
            logger.info("playground: a cited file could not be read: %s", type(error).__name__)
            return web.json_response({"error": str(error) or f"It could not be read ({type(error).__name__})."}, status=404)
        return web.json_response({"text": text})
