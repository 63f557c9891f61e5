"""Links to lines that cannot change: pinned to a commit."""

from __future__ import annotations

import re
from urllib.parse import quote

from rag.errors import SourceError
from rag.source.location import parse_location
from rag.types import Repository

_UNDECODED = re.compile(r"%5Cx([89a-f][0-9a-f])")
_RENDERED = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".org", ".ipynb")


def permalink(repository: Repository, commit: str, path: str, start_line: int, end_line: int) -> str:
    """URL of the lines (1-based, inclusive) at the commit, in the manner of the host; "" where the repository has no web page."""
    web = (repository.web or _derived(repository.source)).rstrip("/")
    if not re.match(r"https?://[^\s/<>|]+", web):
        return ""
    # A name that is not UTF-8 is shown with \xNN (rag.source.blobs); its link needs the byte itself.
    file = _UNDECODED.sub(lambda match: "%" + match[1].upper(), quote(path, safe="/"))
    labels = web.split("/")[2].split(":")[0].lower().split(".")
    several = end_line > start_line
    if "gitlab" in labels:
        return f"{web}/-/blob/{commit}/{file}#L{start_line}" + (f"-{end_line}" if several else "")
    if "bitbucket" in labels:
        return f"{web}/src/{commit}/{file}#lines-{start_line}" + (f":{end_line}" if several else "")
    anchor = f"#L{start_line}" + (f"-L{end_line}" if several else "")
    if {"codeberg", "gitea", "forgejo"}.intersection(labels):
        return f"{web}/src/commit/{commit}/{file}{anchor}"
    # GitHub renders prose, and a rendered page has no line anchors.
    plain = "?plain=1" if "github" in labels and file.lower().endswith(_RENDERED) else ""
    return f"{web}/blob/{commit}/{file}{plain}{anchor}"


def plain_reference(path: str, start_line: int, end_line: int) -> str:
    """ "path:10-20", or "path:10" for one line; on one line of text whatever the file's name holds."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)
    return f"{shown}:{start_line}-{end_line}" if end_line > start_line else f"{shown}:{start_line}"


def _derived(source: str) -> str:
    if "://" not in source and "@" not in source:
        return ""  # a path: do not look at the disk for every link
    try:
        return parse_location(source).web
    except SourceError:
        return ""
