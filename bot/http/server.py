"""The port that an operator may open: webhooks and `GET /health`. Every answer is JSON in fixed words; nothing of an error gets out."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.http.webhooks import Refused, Webhooks
from rag.errors import ConfigurationError, DatabaseError

logger = logging.getLogger(__name__)
Health = Callable[[], Awaitable[Mapping[str, bool]]]
"""What must be well, by name: "slack", "database"."""

_WORDS = {404: "There is nothing here.", 405: "This method is not answered here.", 413: "The request is too large."}


class HttpServer:
    """Listens on `host` and `port` (0: a free one) between `start` and `stop`. `webhooks` None: only health is answered."""

    def __init__(self, host: str, port: int, health: Health, webhooks: Webhooks | None) -> None:
        self._host = host
        self._port = port
        self._health = health
        application = web.Application(middlewares=[_plainly])
        application.router.add_get("/health", self._answer_health)
        if webhooks is not None:
            application.add_routes(webhooks.routes())
        application.on_response_prepare.append(_sign_plainly)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=2.0, keepalive_timeout=15.0, lingering_time=2.0)

    @property
    def url(self) -> str:
        """Where it listens, once started."""
        host, port, *_ = self._runner.addresses[0]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def start(self) -> None:
        """Raises: ConfigurationError where it cannot listen there."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationError(
                f"http.listen: {self._host} port {self._port} cannot be listened on ({error.strerror}).",
                "Choose another port, or an address of this machine.",
            ) from None
        logger.info("listening on %s", self.url)

    async def stop(self) -> None:
        """Answers what was asked, for two seconds at most. Does nothing where it is not listening."""
        await self._runner.cleanup()

    async def _answer_health(self, _: web.Request) -> web.Response:
        parts = dict(await self._health())
        well = all(parts.values())
        return web.json_response({"healthy": well, **parts}, status=200 if well else 503, headers={"Cache-Control": "no-store"})


@web.middleware
async def _plainly(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refused as refused:
        return _error(refused.status, refused.words)
    except web.HTTPException as answer:
        return _error(answer.status, _WORDS.get(answer.status, "This request is not answered."))
    except ConnectionError:
        raise
    except DatabaseError:
        logger.exception("%s could not be recorded", request.path)
        return _error(503, "It could not be recorded. Send it again later.")
    except Exception:
        logger.exception("%s failed", request.path)
        return _error(500, "Footnote failed; its log says why.")


def _error(status: int, words: str) -> web.Response:
    response = web.json_response({"error": words}, status=status)
    if status in (408, 413, 415, 503):
        response.force_close()  # what is left of the body is not worth reading
    return response


async def _sign_plainly(_: web.Request, response: web.StreamResponse) -> None:
    response.headers["Server"] = "footnote"  # not which versions of what
    response.headers["X-Content-Type-Options"] = "nosniff"
