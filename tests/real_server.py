"""The Qdrant server that QDRANT_URL names: tests marked `qdrant_server` run on it, and without one are not collected.

The variables are taken out of the environment, so that no other test finds them.
"""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

URL = os.environ.pop("QDRANT_URL", "")
API_KEY = os.environ.pop("QDRANT_API_KEY", "")


def _addresses() -> frozenset[str]:
    """The host's name and addresses, looked up before tests are kept on this machine."""
    host = urlsplit(URL).hostname if URL else None
    if not host:
        return frozenset()
    return frozenset({host, *(str(found[4][0]) for found in socket.getaddrinfo(host, None))})


ADDRESSES = _addresses()
