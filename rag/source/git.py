"""Running git: fixed arguments, an environment built from nothing, a timeout that ends the whole process group.

No configuration but ours is read where git allows it, and what a repository's own configuration could start (hooks, fsmonitor, pagers,
credential helpers, bundles) is overridden on the command line. The token reaches git through an askpass program that
reads it from the environment: it stands in no argument, URL, configuration or message.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag.errors import DiskFull, SourceError
from rag.source.location import Location
from rag.source.redaction import redact

logger = logging.getLogger(__name__)

_FIXED: tuple[str, ...] = tuple(
    argument
    for setting in (
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.symlinks=false",
        "core.alternateRefsCommand=",
        "core.pager=cat",
        "core.attributesFile=/dev/null",
        "credential.helper=",
        "protocol.ext.allow=never",
        "http.followRedirects=false",
        "http.lowSpeedLimit=500",
        "http.lowSpeedTime=120",
        "transfer.bundleURI=false",
        "fetch.recurseSubmodules=false",
        "submodule.recurse=false",
        "gc.auto=0",
        "maintenance.auto=false",
        "log.showSignature=false",
    )
    for argument in ("-c", setting)
)
_KEPT = ("PATH", "TMPDIR", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
_PROXY = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30 -oPermitLocalCommand=no -oClearAllForwardings=yes"
_ASKPASS = """#!/bin/sh
case "$1" in
  "Username for 'https://$FOOTNOTE_ASKPASS_HOST"*) printf '%s\\n' "$FOOTNOTE_ASKPASS_USER" ;;
  "Password for 'https://"*"@$FOOTNOTE_ASKPASS_HOST"*) printf '%s\\n' "$FOOTNOTE_ASKPASS_TOKEN" ;;
  *) exit 1 ;;
esac
"""
_MESSAGE_BYTES = 64_000
MIN_FREE_BYTES = 200_000_000
"""A fetch is stopped when the disk has less room than this."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a git process left. `stderr` is redacted, printable, its last 64 kB."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def complaint(self) -> str:
        """The line of `stderr` that says what went wrong, short."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        said = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "ERROR:"))]
        fatal = [line for line in said if line.startswith("fatal:")] or said or lines or [f"git ended with status {self.code}"]
        return fatal[0].removeprefix("fatal:").strip()[:300]


class GitTimeout(SourceError):
    """A git process outlasted its time and was killed."""


def uses_proxy() -> bool:
    """Whether git reaches the web through a proxy, which then also resolves names."""
    return any(os.environ.get(name) for name in _PROXY[:4])


def environment(protocols: str = "", extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a git process. `protocols`: what may be spoken to others, "" for none."""
    kept = {name: os.environ[name] for name in (*_KEPT, *_PROXY) if name in os.environ}
    return kept | {
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_SSH_COMMAND": _SSH,
        **(extra or {}),
    }


@contextlib.contextmanager
def network_environment(location: Location, token: str) -> Iterator[dict[str, str]]:
    """The environment of a process that may speak to `location` and to nothing else. It ends with a directory that is removed."""
    with tempfile.TemporaryDirectory(prefix="footnote-git-") as temporary:
        home = Path(temporary)
        config = home / ".gitconfig"
        escaped = location.url.replace("\\", "\\\\").replace('"', '\\"')
        # upload-pack, which serves a path, reads the protected configuration only: the operator named this path, whoever owns it.
        trusted = f'[safe]\n\tdirectory = "{escaped}"\n\tdirectory = "{escaped}/.git"\n' if location.kind == "path" else ""
        config.write_text(f'[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n[protocol "ext"]\n\tallow = never\n{trusted}', "utf-8")
        extra = {"HOME": temporary, "XDG_CONFIG_HOME": temporary, "GIT_CONFIG_GLOBAL": str(config)}
        if token and location.kind == "https":
            askpass = home / "askpass"
            askpass.write_text(_ASKPASS, "utf-8")
            askpass.chmod(0o700)
            authority = location.url.split("/")[2]
            user = "x-token-auth" if location.host == "bitbucket.org" else "oauth2" if "gitlab" in location.host else "x-access-token"
            extra |= {
                "GIT_ASKPASS": str(askpass),
                "FOOTNOTE_ASKPASS_HOST": authority + "'",
                "FOOTNOTE_ASKPASS_USER": user,
                "FOOTNOTE_ASKPASS_TOKEN": token,
            }
        yield environment({"path": "file"}.get(location.kind, location.kind), extra)


def command(git_dir: Path | None, arguments: Sequence[str], settings: Sequence[str] = ()) -> list[str]:
    """The full argument list. Naming the git directory keeps git from looking for one."""
    more = [argument for setting in settings for argument in ("-c", setting)]
    place = [f"--git-dir={git_dir}"] if git_dir else []
    return ["git", "--no-pager", "--literal-pathspecs", *_FIXED, *more, *place, *arguments]


def run(
    git_dir: Path | None,
    arguments: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    settings: Sequence[str] = (),
    stdin: bytes = b"",
    secret: str = "",
    watched: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Finished:
    """Runs git to its end. `timeout` in seconds, for all of it. `watched`: a directory on the disk that must keep some room.

    Raises: GitTimeout, DiskFull, SourceError (no git on this machine). A status other than 0 is a value.
    """
    with started(git_dir, arguments, env=env, settings=settings) as process:
        heard, output = bytearray(), bytearray()
        threads = [
            threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
            threading.Thread(target=_drain, args=(process.stdout, output), daemon=True),
            threading.Thread(target=_listen, args=(process.stderr, heard, on_progress), daemon=True),
        ]
        for thread in threads:
            thread.start()
        _wait(process, timeout, watched, arguments[0])
        for thread in threads:
            thread.join(10)
        return Finished(process.returncode, bytes(output), clean(bytes(heard), secret))


@contextlib.contextmanager
def started(
    git_dir: Path | None,
    arguments: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    settings: Sequence[str] = (),
    stderr: IO[bytes] | int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[bytes]]:
    """A git process with pipes, in a group of its own that is gone when the block ends. Raises: SourceError."""
    try:
        process = subprocess.Popen(
            command(git_dir, arguments, settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=dict(env) if env is not None else environment(),
            # Away from the terminal, at which it could ask. Without one it stays in our session: where Linux shares the processor out by
            # session, a build's git would else be as important as the bot that answers.
            start_new_session=(terminal := _has_terminal()),
            process_group=None if terminal else 0,
            cwd="/",
        )
    except OSError as error:
        raise SourceError("The program git cannot be started.", "Install git and see that it is on the PATH.") from error
    try:
        yield process
    finally:
        end(process)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def end(process: subprocess.Popen[bytes]) -> None:
    """Kills the process and all that it started, and reaps it."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None or kind is signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()


def clean(heard: bytes, secret: str = "") -> str:
    """What git wrote to stderr, fit for a message: without secrets and control characters."""
    text = heard.decode("utf-8", "replace").replace("\r", "\n")
    if secret:
        text = text.replace(secret, "[redacted:token]")
    text = re.sub(r"(://)[^/\s@]{1,500}@", r"\1", redact(text)[0])
    return "".join(c for c in text if c == "\n" or c.isprintable())


def _wait(process: subprocess.Popen[bytes], timeout: float, watched: Path | None, what: str) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            process.wait(min(0.5, max(0.01, deadline - time.monotonic())))
            return
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                end(process)
                raise GitTimeout(
                    f"git {what} did not finish within {timeout:g} s and was stopped.", "Try again, or allow it more time."
                ) from None
            if watched and watched.exists() and shutil.disk_usage(watched).free < MIN_FREE_BYTES:
                end(process)
                raise DiskFull(f"The disk that holds {watched.parent} has less than 200 MB left.", "Make room and try again.") from None


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # git may end without having read it all
        pipe.write(data)
    with contextlib.suppress(OSError, ValueError):
        pipe.close()


def _drain(pipe: IO[bytes], into: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError):
        while piece := pipe.read(1 << 20):
            into += piece


def _listen(pipe: IO[bytes], into: bytearray, on_progress: Callable[[str], None] | None) -> None:
    shown = 0.0
    with contextlib.suppress(OSError, ValueError):
        while piece := os.read(pipe.fileno(), 8192):
            into += piece
            if len(into) > 2 * _MESSAGE_BYTES:
                del into[:-_MESSAGE_BYTES]
            if on_progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                lines = [line.strip() for line in clean(piece).splitlines() if line.strip().endswith(("s", "done.", ")", "%"))]
                if lines:
                    on_progress(lines[-1][:120])
