"""A git server on loopback that speaks https and wants a user and a password, or answers with anything else that a test needs."""

from __future__ import annotations

import base64
import http.server
import ssl
import threading
from pathlib import Path
from typing import Any

# Made for these tests, valid for "localhost" alone, trusted by nobody else.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUWznkclq1bixJONkKtAtSXfin8icwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyOTIxNDk0MFoYDzIxMjYxMTA1
MjE0OTQwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASuhIun3NXaaVQVNpPCvW9W+qye6whtD8IzaasYTlYd+SV92g7l2Iez
yqXOA3x8Vq3eFT5F9F08VQ0I13t++CtCo2kwZzAdBgNVHQ4EFgQU2yG2QHVfLnc+
kN4I3OJdpcWfb/wwHwYDVR0jBBgwFoAU2yG2QHVfLnc+kN4I3OJdpcWfb/wwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgQPNwJXF4E2pGdAW6Qn/H1rHtLrDm0IhEfZ+B0HZtrmQCIQCEFjMTLkRt
M7agHNnktR3/InkzPcDuthzFJT+2p2RJqw==
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQDXBg+j4J0QuOS9d
v6liPpHZ08r0kYHEHRRNl/m4UMWhRANCAASuhIun3NXaaVQVNpPCvW9W+qye6wht
D8IzaasYTlYd+SV92g7l2IezyqXOA3x8Vq3eFT5F9F08VQ0I13t++CtC
-----END PRIVATE KEY-----
"""


class HttpsServer:
    """Serves the files below `root` (git's dumb protocol) to whoever knows `user` and `password`. `status`: answer only this."""

    def __init__(self, root: Path, user: str = "", password: str = "") -> None:
        self.root, self.status, self.location = root, 0, ""
        self.expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else ""
        self.requests: list[tuple[str, str]] = []  # (path, authorization)
        self.certificate = root.parent / "certificate.pem"
        key = root.parent / "certificate.key"
        self.certificate.write_text(CERTIFICATE)
        key.write_text(KEY)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"https://localhost:{self._server.server_address[1]}"

    def __enter__(self) -> HttpsServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                authorization = self.headers.get("Authorization", "")
                path = self.path.partition("?")[0]
                outer.requests.append((path, authorization))
                file = outer.root / path.lstrip("/")
                if outer.status:
                    self._answer(outer.status, b"", outer.location)
                elif outer.expected and authorization != outer.expected:
                    self._answer(401, b"")
                elif file.is_file():
                    self._answer(200, file.read_bytes())
                else:
                    self._answer(404, b"")

            def _answer(self, status: int, body: bytes, location: str = "") -> None:
                self.send_response(status)
                if status == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="test"')
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
