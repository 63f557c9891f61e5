"""What this data directory calls itself on a server that others use too.

A copy of a data directory must not take the original's collections for leftovers of its own. So the name is bound to the file that it
stands in: a copied file is another one, and the copy takes a new name.
"""

from __future__ import annotations

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
    for _ in range(10):
        known = _read(path)
        if known:
            return known
        data_dir.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".installation.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            with draft.open("w", encoding="ascii") as file:
                json.dump({"id": secrets.token_hex(6), "file": os.fstat(file.fileno()).st_ino}, file)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                draft.replace(path)  # it belongs to another directory
            else:
                os.link(draft, path)  # the quicker of two processes wins
            sync_directory(data_dir)
        except FileExistsError:
            continue
        finally:
            draft.unlink(missing_ok=True)
    raise OSError(f"{path} cannot be made")


def _read(path: Path) -> str:
    try:
        with path.open(encoding="ascii") as file:
            values = json.load(file)
            own = values["file"] == os.fstat(file.fileno()).st_ino
        return values["id"] if own and _ID.fullmatch(values["id"]) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""
