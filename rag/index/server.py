"""A Qdrant server, or a cluster behind one address: every request has a timeout, every failure one line that names the remedy.

Nothing here repeats what a client library says of a failure, for it may quote what was sent.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import TypeVar

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.common.version_check import is_compatible
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from rag.errors import CollectionGone, StoreUnavailable
from rag.index.server_settings import ServerSettings
from rag.source.redaction import redact

logger = logging.getLogger(__name__)
T = TypeVar("T")
Connect = Callable[[ServerSettings, float], QdrantClient]

PAUSE = 10.0  # seconds that no search asks a server that just failed
_ATTEMPTS = 3
_BETWEEN = 1.0  # seconds before the second attempt, twice that before the third
_SHOWN = 200  # characters of what a server says of a request that it refuses


def connect_server(settings: ServerSettings, timeout: float) -> QdrantClient:
    """Opens no connection yet. `timeout`: seconds a request."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a key over http; said by `Server` where it matters
        return QdrantClient(
            url=settings.url,
            api_key=settings.api_key or None,
            timeout=max(1, round(timeout)),
            check_compatibility=False,
            trust_env=not settings.on_this_machine,  # a proxy of the environment cannot reach this machine's own ports
        )


def fitting_version(version: str) -> bool:
    """Whether the client library was made for a server of this version: at most one minor version apart."""
    return is_compatible(metadata.version("qdrant-client"), version)


class Server:
    """Threads may share it. `connect` makes a client: one for searches, one for builds, which may wait longer."""

    def __init__(
        self,
        settings: ServerSettings,
        connect: Connect = connect_server,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self._connect = connect
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._clients: dict[float, QdrantClient] = {}
        self._down: StoreUnavailable | None = None
        self._down_until = 0.0
        if settings.key_in_clear:
            logger.warning("QDRANT_API_KEY crosses the network unencrypted: QDRANT_URL is http; give the server TLS")

    def search(self, request: Callable[[QdrantClient], T]) -> T:
        """One attempt. For some seconds after a failure of the server none is made: a question does not wait for what is down.

        Raises: StoreUnavailable, CollectionGone.
        """
        with self._lock:
            if self._down is not None and self._clock() < self._down_until:
                raise StoreUnavailable(self._down.problem, self._down.remedy)
        try:
            found = self._once(request, self.settings.timeout)
        except _Passing as error:
            with self._lock:
                if self._down is None:
                    logger.warning("%s It is not asked again for %g s.", error.problem, PAUSE)
                self._down, self._down_until = error, self._clock() + PAUSE
            raise
        with self._lock:
            if self._down is not None:
                logger.warning("the Qdrant server at %s answers again", self.settings.url)
                self._down = None
        return found

    def change(self, request: Callable[[QdrantClient], T]) -> T:
        """Up to three attempts where another may help; so only for what may be done twice. Raises: StoreUnavailable, CollectionGone."""
        for attempt in range(1, _ATTEMPTS):
            try:
                return self._once(request, self.settings.build_timeout)
            except _Passing:
                self._sleep(_BETWEEN * attempt)
        return self._once(request, self.settings.build_timeout)

    def close(self) -> None:
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _client(self, timeout: float) -> QdrantClient:
        with self._lock:
            if timeout not in self._clients:
                self._clients[timeout] = self._connect(self.settings, timeout)
            return self._clients[timeout]

    def _once(self, request: Callable[[QdrantClient], T], timeout: float) -> T:
        try:
            return request(self._client(timeout))
        except StoreUnavailable:
            raise
        except Exception as error:
            raise self._named(error, timeout) from error

    def _named(self, error: Exception, timeout: float) -> StoreUnavailable:
        source = error.source if isinstance(error, ResponseHandlingException) else error
        where = f"The Qdrant server at {self.settings.url}"
        if isinstance(source, httpx.TimeoutException):
            return _Passing(f"{where} did not answer within {timeout:g} s.", "Check that it runs and is not overloaded, then try again.")
        if isinstance(source, httpx.TransportError):
            return _Passing(f"{where} cannot be reached ({type(source).__name__}).", "Check QDRANT_URL and that it runs.")
        if isinstance(source, ResourceExhaustedResponse):
            return _Passing(f"{where} takes no more requests for now (429).", "Try again later, or give the server more resources.")
        if isinstance(source, UnexpectedResponse):
            return self._answered(source, where)
        if isinstance(source, ValueError) and "not found" in str(source).lower():  # qdrant-client's local mode
            return _gone(where)
        return StoreUnavailable(
            f"{where} answered with what cannot be read ({type(source).__name__}).",
            "Check that QDRANT_URL is a Qdrant server, and its version: footnote doctor.",
        )

    def _answered(self, answer: UnexpectedResponse, where: str) -> StoreUnavailable:
        code = answer.status_code or 0
        if code in (401, 403):
            key = "QDRANT_API_KEY" if self.settings.api_key else "no key, since QDRANT_API_KEY is not set"
            return StoreUnavailable(f"{where} refuses access ({code}) with {key}.", "Set QDRANT_API_KEY to a key that may read and write.")
        if code == 404 and b"ollection" in answer.content:
            return _gone(where)
        if code == 404:
            return StoreUnavailable(f"{where} is not there (404).", "Check QDRANT_URL, the path in it too.")
        if code >= 500 or code == 429:
            return _Passing(f"{where} failed ({code}).", "Look into the server's log, its memory and its disk; then try again.")
        return StoreUnavailable(
            f"{where} refused a request ({code}{_said(answer)}).", "Check its version and limits (strict mode, say): footnote doctor."
        )


class _Passing(StoreUnavailable):
    """What may be over at the next attempt."""

    def __reduce__(self) -> tuple[type[StoreUnavailable], tuple[str, str]]:
        return StoreUnavailable, (self.problem, self.remedy)


def _gone(where: str) -> CollectionGone:
    return CollectionGone(
        f"{where} does not have the collection that was made on it.", "It is made anew from the vectors that are kept on this machine."
    )


def _said(answer: UnexpectedResponse) -> str:
    try:
        said = str(json.loads(answer.content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {redact(' '.join(said.split()))[0][:_SHOWN]}"
