"""Qdrant's REST interface on a loopback port, as far as Footnote speaks it: bodies are read by the library's own strict models, kept for
the test to look at, and carried out by qdrant-client's local mode. Faults are asked for by the test."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models

VERSION = "1.20.0"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: str
    body: Any
    api_key: str | None


@dataclass(frozen=True)
class Fault:
    """`status` and `body` are the answer; with `hang` none comes before the test ends, with `cut` half of the body does."""

    status: int = 500
    body: bytes = b'{"status": {"error": "Service internal error: disk"}, "time": 0.0}'
    hang: bool = False
    cut: bool = False


class Refused(Exception):
    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


@dataclass
class FakeQdrant:
    """`fault`: called with each request, None to serve it. `api_key`: what is asked for, "" for nothing."""

    api_key: str = ""
    version: str = VERSION
    fault: Callable[[Request], Fault | None] = lambda request: None
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    client: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def asked(self, method: str, ending: str) -> list[Request]:
        return [request for request in self.requests if request.method == method and request.path.endswith(ending)]

    def collections(self) -> list[str]:
        with self.lock:
            return sorted(one.name for one in self.client.get_collections().collections)

    def aliases(self) -> dict[str, str]:
        with self.lock:
            return {one.alias_name: one.collection_name for one in self.client.get_aliases().aliases}

    def drop(self, name: str) -> None:
        """What somebody with the key might do."""
        with self.lock:
            self.client.delete_collection(name)

    def answer(self, request: Request) -> Any:
        parts = request.path.strip("/").split("/")
        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # local mode has no payload indexes, and says so
            match request.method, parts:
                case "GET", [""]:
                    return None
                case "GET", ["collections"]:
                    return self.client.get_collections()
                case "GET", ["aliases"]:
                    return self.client.get_aliases()
                case "POST", ["collections", "aliases"]:
                    actions = models.ChangeAliasesOperation.model_validate(request.body).actions
                    return self.client.update_collection_aliases(actions)
                case method, ["collections", name, *rest]:
                    return self._of_collection(method, name, rest, request.body)
        raise Refused(404, "Not found")

    def _of_collection(self, method: str, name: str, rest: list[str], body: Any) -> Any:
        client = self.client
        if method == "DELETE" and not rest:
            return client.delete_collection(name)
        if rest == ["exists"]:
            return {"exists": client.collection_exists(name)}
        if method == "PUT" and not rest:
            made = models.CreateCollection.model_validate(body)
            return client.create_collection(name, vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors)
        if not client.collection_exists(name):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        match method, rest:
            case "GET", []:
                return client.get_collection(name)
            case "PUT", ["index"]:
                index = models.CreateFieldIndex.model_validate(body)
                client.create_payload_index(name, index.field_name, field_schema=index.field_schema)
                return {"status": "completed"}
            case "PUT", ["points"]:
                client.upsert(name, models.PointsList.model_validate(body).points)
                return {"status": "completed"}
            case "POST", ["points", "count"]:
                return client.count(name, exact=True)
            case "POST", ["points", "query", "batch"]:
                return client.query_batch_points(name, models.QueryRequestBatch.model_validate(body).searches)
        raise Refused(404, "Not found")


@contextmanager
def fake_qdrant(**settings: Any) -> Iterator[FakeQdrant]:
    fake = FakeQdrant(**settings)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, parts.path, parts.query, json.loads(raw) if raw else None, self.headers.get("api-key"))
            fake.requests.append(request)
            fault = fake.fault(request)
            if fault is not None and fault.hang:
                fake.over.wait(60)
                self.close_connection = True
                return
            if fault is not None:
                self._send(fault.status, fault.body, cut=fault.cut)
            elif request.path == "/":  # told to everyone, as a server does
                self._send(200, json.dumps({"title": "qdrant - vector search engine", "version": fake.version}).encode())
            elif fake.api_key and request.api_key != fake.api_key:
                self._send(401, b"Must provide an API key or an Authorization bearer token")
            else:
                self._carry_out(request)

        def _carry_out(self, request: Request) -> None:
            try:
                result = fake.answer(request)
            except Refused as refusal:
                self._send(refusal.status, json.dumps({"status": {"error": str(refusal)}, "time": 0.0}).encode())
            except ValueError as error:
                self._send(400, json.dumps({"status": {"error": f"Format error: {error}"}, "time": 0.0}).encode())
            else:
                self._send(200, json.dumps({"result": _plain(result), "status": "ok", "time": 0.001}).encode())

        def _send(self, status: int, body: bytes, *, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = self.close_connection or cut

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def log_message(self, format: str, *arguments: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        server.server_close()


def _plain(result: Any) -> Any:
    if isinstance(result, list):
        return [_plain(one) for one in result]
    return result.model_dump(mode="json") if hasattr(result, "model_dump") else result
