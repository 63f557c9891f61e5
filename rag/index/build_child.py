"""Starting the builder's process, `python -m rag.index.build_process`; also before there is a job for it.

This module imports nothing heavy: a command starts the child first and loads its own modules while the child does the same.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import rag

TOKEN = "FOOTNOTE_BUILD_TOKEN"  # noqa: S105 - the variable's name
EARLY = "--early"
"""Said to a child that is started before there is a job: it loads what a build needs without waiting for one."""
# Whatever a library of the builder starts threads by: OpenMP, BLAS, and what is written in Rust.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_LINE = 1 << 20  # bytes
_GRACE = 10.0  # seconds to end after SIGKILL


async def start_child(token: str = "", threads: int = 0, *, early: bool = False) -> asyncio.subprocess.Process:
    """A builder that waits for its job. The token travels in its environment alone. `threads`: of its libraries, 0 for as they please.

    Raises: OSError.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rag.index.build_process",
        *([EARLY] if early else []),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(token, threads),
        start_new_session=True,
        limit=_LINE,
    )


class SpareChild:
    """A builder that was started with `token` and `threads` before its job was known. Given away once; ended with the context where
    nobody took it."""

    def __init__(self, token: str = "", threads: int = 0) -> None:
        self._started_with = (token, threads)
        self._child: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> SpareChild:
        self._child = await start_child(*self._started_with, early=True)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            await asyncio.wait_for(child.wait(), _GRACE)

    def take(self, token: str, threads: int = 0) -> asyncio.subprocess.Process | None:
        """The child, whose end is the taker's from now on. None where it is gone already, or was started with other words."""
        if self._child is None or self._child.returncode is not None or self._started_with != (token, threads):
            return None
        child, self._child = self._child, None
        return child


def _environment(token: str, threads: int) -> dict[str, str]:
    """This process's, without anything that looks like a secret, and with the package's directory to import from."""
    kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    roots = [str(Path(path).parent) for path in rag.__path__]
    kept["PYTHONPATH"] = os.pathsep.join([*roots, *filter(None, [kept.get("PYTHONPATH", "")])])
    if threads:
        kept |= dict.fromkeys(_THREADS, str(threads))
    if token:
        kept[TOKEN] = token
    return kept
