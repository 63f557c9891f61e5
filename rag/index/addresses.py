"""Addresses of servers that an operator configures: which are refused, and which lie on this machine. Pure: nothing is looked up."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from rag.errors import ConfigurationError

_PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa", ".svc")


def checked_address(url: str, name: str, *, sends: str, remedy: str, port: int = 0) -> str:
    """The address without a trailing slash. `name`: of the setting; `sends`: what would travel; `port`: written out where none is given.

    Over http only this machine and hosts of a private network are spoken to. No message repeats the address: it might hold a password.
    Raises: ConfigurationError.
    """
    try:
        parts = urlsplit(url.strip())
        host, given = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigurationError(f"{name} is no address.", remedy) from None
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"{name} holds a user name or a password.", remedy)
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError(f"{name} does not begin with https:// (or http://) and a host.", remedy)
    if parts.query or parts.fragment:
        raise ConfigurationError(f"{name} has a query or a fragment, where a key might stand.", remedy)
    if parts.scheme == "http" and not _is_private(host):
        raise ConfigurationError(
            f"{name} is http to a host outside this network: {sends} would travel unencrypted.",
            "Use https, or an address in a private network.",
        )
    shown = f"[{host}]" if ":" in host else host
    written = given or port
    return f"{parts.scheme}://{shown}{f':{written}' if written else ''}{parts.path.rstrip('/')}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
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
