"""Where a Qdrant server is and how collections on it are made. The address and the key come from the environment alone."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from rag.errors import ConfigurationError

_PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa", ".svc")
_REMEDY = 'Give an address such as "https://qdrant.example.com:6333", and the key in QDRANT_API_KEY.'


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`url`: as `checked_url` gives it. `timeout`: seconds for one search; `build_timeout`: for one request of a build;
    `settle_timeout`: how long a build waits for the server to finish its graph, after which it searches what is not in it exactly.

    `links` (m), `build_width` (ef_construct), `search_width` (ef): of HNSW, Malkov and Yashunin 2016. The defaults put recall first.
    `quantization`: "int8" keeps a byte a number in memory; `oversampling` times as many candidates are then compared by their full vectors.
    `shards`, `replicas`, `write_consistency`: of a collection in a cluster; 0 leaves them to the server.
    """

    url: str
    api_key: str = field(default="", repr=False)
    timeout: float = 10.0
    build_timeout: float = 120.0
    settle_timeout: float = 1800.0
    links: int = 32
    build_width: int = 256
    search_width: int = 256
    quantization: Literal["none", "int8"] = "none"
    oversampling: float = 2.0
    shards: int = 0
    replicas: int = 0
    write_consistency: int = 0

    @property
    def on_this_machine(self) -> bool:
        return _is_loopback(urlsplit(self.url).hostname or "")

    @property
    def key_in_clear(self) -> bool:
        """Whether the key crosses a network without TLS."""
        return bool(self.api_key) and self.url.startswith("http://") and not self.on_this_machine


def checked_url(url: str) -> str:
    """The address without a trailing slash, its port written out: 6333 where it names none, as Qdrant's own clients have it.

    Over http only this machine and hosts of a private network are spoken to. No message repeats the address: it might hold a password.
    Raises: ConfigurationError.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigurationError("QDRANT_URL is no address.", _REMEDY) from None
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError("QDRANT_URL holds a user name or a password.", _REMEDY)
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError("QDRANT_URL does not begin with https:// (or http://) and a host.", _REMEDY)
    if parts.query or parts.fragment:
        raise ConfigurationError("QDRANT_URL has a query or a fragment, where a key might stand.", _REMEDY)
    if parts.scheme == "http" and not _is_private(host):
        raise ConfigurationError(
            "QDRANT_URL is http to a host outside this network: chunks' paths and the key would travel unencrypted.",
            "Use https, or an address in a private network.",
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port or 6333}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address else host == "localhost" or host.endswith(".localhost")


def _is_private(host: str) -> bool:
    """This machine, a private address, or a name that means something in a private network alone (a container's, say)."""
    address = _address(host)
    if address is not None:
        return address.is_private and not address.is_unspecified
    name = host.lower().rstrip(".")
    return "." not in name or name.endswith(_PRIVATE_ENDINGS) or ".svc." in name


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
