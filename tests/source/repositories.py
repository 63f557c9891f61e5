"""Real git repositories, made with `git fast-import`: any name, any mode, no work tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENV = {
    "PATH": os.environ.get("PATH", ""),
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(*arguments: str | Path, cwd: Path | None = None, stdin: bytes = b"") -> str:
    done = subprocess.run(["git", *map(str, arguments)], cwd=cwd, input=stdin, env=ENV, capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Bare:
    """A bare repository under construction."""

    def __init__(self, path: Path, branch: str = "main") -> None:
        self.path = path
        self._time = 1_700_000_000
        git("init", "-q", "--bare", "-b", branch, path)
        self.branch = branch

    def git(self, *arguments: str | Path, stdin: bytes = b"") -> str:
        return git(f"--git-dir={self.path}", *arguments, stdin=stdin)

    def commit(
        self,
        files: Mapping[str | bytes, str | bytes | None],
        *,
        branch: str = "",
        orphan: bool = False,
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """Commits on top of the branch (or as its new root); None deletes. For mode 160000 the content is a commit id."""
        ref = f"refs/heads/{branch or self.branch}"
        self._time += 60
        stream = bytearray(f"commit {ref}\ncommitter A <a@example.org> {self._time} +0200\ndata 1\nm\n".encode())
        if not orphan and self.git("for-each-ref", ref):
            stream += f"from {ref}^0\n".encode()
        for name, content in files.items():
            raw = name if isinstance(name, bytes) else name.encode()
            quoted = (
                b'"' + b"".join(b"\\%03o" % byte if byte < 33 or byte > 126 or byte in b'"\\' else bytes([byte]) for byte in raw) + b'"'
            )
            data = content.encode() if isinstance(content, str) else content
            mode = (modes or {}).get(raw.decode("utf-8", "replace"), "100644")
            if data is None:
                stream += b"D " + quoted + b"\n"
            elif mode == "160000":
                stream += b"M 160000 " + data + b" " + quoted + b"\n"
            else:
                stream += f"M {mode} inline ".encode() + quoted + f"\ndata {len(data)}\n".encode() + data + b"\n"
        self.git("fast-import", "--quiet", "--force", stdin=bytes(stream))
        return self.git("rev-parse", ref)
