"""Whether two URLs name the same repository, however they are written."""

from __future__ import annotations

import re

_URL = re.compile(r"(?:https?|ssh|git)://(?:[^/@\s]{1,200}@)?([A-Za-z0-9.-]{1,253})(?::[0-9]{1,5})?/(\S{1,1000})", re.IGNORECASE)
_SCP = re.compile(r"(?:[^/@:\s]{1,200}@)?([A-Za-z0-9.-]{1,253}):(?!//)(\S{1,1000})")


def source_key(url: str) -> tuple[str, str] | None:
    """Host and path in lower case, without user, port and ".git": https://host/Owner/name.git and git@host:owner/name are one.
    None for what is no URL, a path on this machine say."""
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        return None
    path = re.sub(r"/{2,}", "/", found[2]).strip("/").lower().removesuffix(".git").rstrip("/")
    return (found[1].lower().rstrip("."), path) if path else None
