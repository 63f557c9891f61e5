"""Who may talk to the server: this machine's own clients under this machine's own names. A page of another origin may not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def make_guard(names: Callable[[], frozenset[str]]) -> Middleware:
    """A middleware. `names`: the host:port pairs under which the server is known.

    The Host header must be one of them, which ends DNS rebinding; an Origin header must be too, which ends other pages' scripts; and the
    page's own endpoints refuse what a browser marks as coming from another site.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        known = names()
        if request.headers.get("Host", "").lower() not in known:
            raise web.HTTPForbidden(text="This server answers only under its own address on this machine.")
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in known}:
            raise web.HTTPForbidden(text="Pages of other origins may not use the playground.")
        if request.path.startswith("/page/") and request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise web.HTTPForbidden(text="Pages of other sites may not use the playground.")
        if request.path.startswith("/page/") and request.method == "POST" and request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="The page's endpoints take JSON.")
        return await handler(request)

    return guard


async def add_security_headers(request: web.Request, response: web.StreamResponse) -> None:
    """For aiohttp's on_response_prepare: the same strict headers on everything."""
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
