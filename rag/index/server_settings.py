"""Where a Qdrant server is and how collections on it are made. The address and the key come from the environment alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from rag.index.addresses import checked_address, is_loopback

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
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def key_in_clear(self) -> bool:
        """Whether the key crosses a network without TLS."""
        return bool(self.api_key) and self.url.startswith("http://") and not self.on_this_machine


def checked_url(url: str) -> str:
    """The address without a trailing slash, its port written out: 6333 where it names none, as Qdrant's own clients have it.

    Raises: ConfigurationError, as `checked_address` does.
    """
    return checked_address(url, "QDRANT_URL", sends="chunks' paths and the key", remedy=_REMEDY, port=6333)
