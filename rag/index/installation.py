"""What this data directory calls itself on a server that others use too.

A copy of a data directory must not take the original's collections for leftovers of its own. So the name is bound to the file that it
stands in: a copied file is another one, and the copy takes a new name.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from pathlib import Path

from rag.index.files import sync_directory

_ID = re.compile(r"[0-9a-f]{12}")


def installation_id(data_dir: Path) -> str:
    """12 hexadecimal digits, made at the first call. Processes may call it at once. Raises: OSError."""
    path = data_dir / "installation"
    if known := _read(path):
        return known
    data_dir.mkdir(parents=True, exist_ok=True)
    directory = os.open(data_dir, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)  # held while a file of a few bytes is written
        if known := _read(path):
            return known
        made = secrets.token_hex(6)
        draft = path.with_name(".installation")
        with draft.open("w", encoding="ascii") as file:
            json.dump({"id": made, "file": os.fstat(file.fileno()).st_ino}, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_directory(data_dir)
        return made
    finally:
        os.close(directory)


def _read(path: Path) -> str:
    try:
        with path.open(encoding="ascii") as file:
            values = json.load(file)
            own = values["file"] == os.fstat(file.fileno()).st_ino
        return values["id"] if own and _ID.fullmatch(values["id"]) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""
