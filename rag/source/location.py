"""Parsing of what a person gave as a repository: a path, an https or an ssh URL. Pure but for looking at the given path; starts no process.

Whatever is not plainly one of the three is refused before git sees it: git turns some arguments into commands ("ext::", options)
and some hosts into doors to the inside of a network.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rag.errors import CloneFailed, SourceNotFound, SourceRefused

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://")
_HELPER = re.compile(r"[A-Za-z0-9_+.-]{0,30}::")
_SCP = re.compile(r"(?:([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@)?([A-Za-z0-9][A-Za-z0-9.-]{0,252}):(?!//)([^:\\]+)")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,20}\.?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_PATH = re.compile(r"/[A-Za-z0-9._~/+@%-]{1,1000}")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", re.IGNORECASE)
_INSIDE = ("localhost", ".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".onion")
_FORMS = "Give a path, https://host/owner/name.git or ssh://git@host/owner/name.git."


@dataclass(frozen=True, slots=True)
class Location:
    """Where a repository is read from. `url` goes to git after "--"; for a path it is absolute. `host` is "" for a path.

    `web`: base URL of the repository's pages where the host is known to have them ("https://github.com/owner/name"), else "".
    """

    kind: Literal["path", "https", "ssh"]
    url: str
    host: str
    web: str
    port: int = 0


def parse_location(source: str, private_hosts: Collection[str] = ()) -> Location:
    """The location that `source` names. `private_hosts`: hosts the operator allows although they are inside a network.

    Raises: SourceRefused, SourceNotFound.
    """
    shown = _shown(source)
    if not source or source != source.strip() or len(source) > 2000:
        raise SourceRefused(f"The source {shown} is empty, too long or padded with blanks.", _FORMS)
    if any(ord(c) < 32 or ord(c) == 127 for c in source):
        raise SourceRefused(f"The source {shown} holds a control character.", _FORMS)
    if source.startswith("-"):
        raise SourceRefused(f"The source {shown} looks like an option.", _FORMS)
    if _HELPER.match(source):
        raise SourceRefused(f"The source {shown} names a git remote helper, which can run commands.", _FORMS)
    if scheme := _SCHEME.match(source):
        return _url(source, scheme[1].lower(), shown, private_hosts)
    if (scp := _SCP.fullmatch(source)) and "/" not in source.partition(":")[0] and not Path(source).exists():
        return _scp(source, scp, shown, private_hosts)
    return _path(source, shown)


def public_addresses(
    location: Location, private_hosts: Collection[str] = (), resolve: Callable[..., list[Any]] = socket.getaddrinfo
) -> list[str]:
    """The addresses of the location's host, after a look that none is inside a network. Empty where nothing needs pinning.

    Raises: SourceRefused, CloneFailed (the name does not resolve).
    """
    if location.kind == "path" or location.host in private_hosts:
        return []
    try:
        found = resolve(location.host, location.port or None, type=socket.SOCK_STREAM)
    except OSError as error:
        if location.kind == "ssh":
            return []  # may be a name of the operator's ssh configuration; ssh says so if it is not
        raise CloneFailed(f"The host {location.host} does not resolve.", "Check the URL and the network.") from error
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        if not _is_public(ipaddress.ip_address(address)):
            raise SourceRefused(f"The host {location.host} has the private address {address}.", _allow(location.host))
    return addresses


def _url(source: str, scheme: str, shown: str, private_hosts: Collection[str]) -> Location:
    if scheme == "file":
        raise SourceRefused(f"The source {shown} uses the file protocol.", "Give the path itself, without file://.")
    if scheme not in ("https", "ssh"):
        raise SourceRefused(f"The source {shown} uses the protocol {scheme}, which is not allowed.", _FORMS)
    authority, slash, path = source.partition("://")[2].partition("/")
    if any(c in source for c in "?#\\ <>\"'`{}|^$;&*!()[],"):
        raise SourceRefused(f"The source {shown} holds a character that no repository URL needs.", _FORMS)
    user, at, address = authority.rpartition("@")
    if at and (scheme == "https" or not _USER.fullmatch(user)):
        raise SourceRefused(
            f"The source {shown} carries a user name or a secret.", "Take it out of the URL and give the token in the environment."
        )
    host, colon, digits = address.partition(":")
    if colon and not (digits.isascii() and digits.isdigit() and 0 < int(digits[:6]) < 65536):
        raise SourceRefused(f"The source {shown} has no valid port.", _FORMS)
    host = _checked_host(host, shown, private_hosts)
    if not slash or not _PATH.fullmatch("/" + path) or ".." in path.split("/") or "%2e" in path.lower() or path.startswith("-"):
        raise SourceRefused(f"The source {shown} has no plain path to a repository.", _FORMS)
    port = int(digits) if colon else {"https": 443, "ssh": 22}[scheme]
    kind: Literal["https", "ssh"] = "https" if scheme == "https" else "ssh"
    return Location(kind, f"{scheme}://{source.partition('://')[2]}", host, _web(host, path, digits if scheme == "https" else ""), port)


def _scp(source: str, match: re.Match[str], shown: str, private_hosts: Collection[str]) -> Location:
    user, host, path = match[1], match[2], match[3]
    if not user and "." not in host:
        raise SourceRefused(f"The source {shown} is neither a path nor a URL.", _FORMS)
    host = _checked_host(host, shown, private_hosts)
    plain = "/" + path.lstrip("/")
    if path.startswith("-") or not _PATH.fullmatch(plain) or ".." in path.split("/"):
        raise SourceRefused(f"The source {shown} has no plain path to a repository.", _FORMS)
    return Location("ssh", source, host, _web(host, path, ""), 22)


def _checked_host(host: str, shown: str, private_hosts: Collection[str]) -> str:
    lower = host.lower()
    if not _HOST.fullmatch(host):
        raise SourceRefused(f"The source {shown} has no valid host name.", "Write international names in their xn-- form.")
    if lower in private_hosts:
        return lower
    bare = lower.rstrip(".")
    if _NUMBERS.fullmatch(bare):
        try:
            address = ipaddress.ip_address(bare)
        except ValueError:  # 2130706433, 0x7f.1, 127.1: forms that the C library resolves
            raise SourceRefused(f"The source {shown} hides an address in an odd form.", _FORMS) from None
        if not _is_public(address):
            raise SourceRefused(f"The source {shown} leads to the private address {address}.", _allow(bare))
    elif bare == _INSIDE[0] or bare.endswith(_INSIDE[1:]):
        raise SourceRefused(f"The source {shown} leads to a host inside a network.", _allow(bare))
    return lower


def _path(source: str, shown: str) -> Location:
    try:
        path = Path(source).expanduser()
        exists, is_directory = path.exists(), path.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceNotFound(f"The path {shown} cannot be read.", "Check its spelling and its permissions.") from error
    if not exists and re.match(r"[^/]*@[^/]*:", source):
        raise SourceRefused(f"The source {shown} has no valid host name or path.", _FORMS)
    if not exists:
        guess = source.strip("/")
        remedy = "Check its spelling."
        if re.fullmatch(r"[A-Za-z0-9-]+\.[A-Za-z0-9.-]+/\S+", guess):
            remedy = f"For a repository on the web give https://{guess}."
        elif re.fullmatch(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", guess):
            remedy = f"Check its spelling; for a repository on GitHub give https://github.com/{guess}."
        raise SourceNotFound(f"The path {shown} does not exist.", remedy)
    if not is_directory:
        raise SourceNotFound(f"The path {shown} is a file, not a repository.", "Give the directory of a git repository.")
    path = path.resolve()
    if is_repository(path):
        return Location("path", str(path), "", "")
    for parent in path.parents:
        if is_repository(parent):
            raise SourceNotFound(f"The path {shown} is a folder inside the repository {parent}.", f"Give {parent} itself.")
    raise SourceNotFound(f"The path {shown} is not a git repository.", "Run `git init` there and commit something, or give another path.")


def is_repository(path: Path) -> bool:
    """Whether the directory is a clone (".git" may be a directory or a worktree's file) or a bare repository."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir())


def _web(host: str, path: str, port: str) -> str:
    labels = host.split(".")
    known = {"github", "gitlab", "codeberg", "gitea", "forgejo"}
    if host != "bitbucket.org" and not known.intersection(labels):
        return ""
    path = path.strip("/").removesuffix(".git")
    return f"https://{host}{':' + port if port and port != '443' else ''}/{path}" if path.count("/") >= 1 else ""


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _allow(host: str) -> str:
    return f"If it is meant, the operator can name {host} among the private hosts that are allowed."


def _shown(source: str) -> str:
    """The source as a message may show it: one short line, without anything that stands before an "@"."""
    text = re.sub(r"(://)[^/]*@", r"\1…@", source)
    text = re.sub(r"([?&#]).*", r"\1…", text)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return repr(text if len(text) <= 120 else text[:119] + "…")
