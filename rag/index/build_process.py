"""A build in a process of its own: `run_build` starts `python -m rag.index.build_process` and follows it.

The job goes in as one JSON line; events, then a report or an error, come out as JSON lines. The child leads a process group, is nice, and
ends with its parent: its standard input stays open as long as the parent lives. The token travels in the child's environment alone, a
Qdrant server's key with the job.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rag.errors import BuildFailed, BuildRunning, FootnoteError, IndexCorrupt
from rag.index.build_child import EARLY, TOKEN, SpareChild, start_child
from rag.index.files import disk_full
from rag.index.generation import repository_directory
from rag.index.jobs import BuildEvent, BuildJob, BuildReport, job_from_json, job_to_json
from rag.index.layout import Layout
from rag.index.locks import build_lock
from rag.index.server_settings import ServerSettings

logger = logging.getLogger(__name__)

_EVERY = 0.2  # seconds between two events of a stage
_GRACE = 10.0  # seconds to end after the last line, or after SIGKILL


async def run_build(
    job: BuildJob,
    on_event: Callable[[BuildEvent], None],
    *,
    token: str = "",
    secrets: Sequence[str] = (),
    timeout: float = 6 * 3600,  # noqa: ASYNC109
    nice: int = 10,
    workers: int = 1,
    spare: SpareChild | None = None,
    server: ServerSettings | None = None,
) -> BuildReport:
    """`build` at low priority, off the loop. `on_event`: called on the loop, at most five times a second and stage.

    `secrets`: values to redact wherever they stand in the repository. `timeout`: seconds. `workers`: processes that parse. `nice`: of
    the child and all below it. `job.threads`: of the libraries in it too, where it is not 0. `spare`: a child that was started earlier,
    taken if it is still there and was started alike. `server`: where the dense store is made, None for this machine.
    Cancelling kills the child and all below it.
    Raises: what `build` raises, as the same class; BuildFailed if the child dies or takes too long; DiskFull if it died for want of room.
    """
    child = (spare.take(token, job.threads) if spare is not None else None) or await start_child(token, job.threads)
    listening = asyncio.create_task(_log_errors(child, job.repository.name))
    ended = False
    try:
        async with asyncio.timeout(timeout):
            assert child.stdin is not None  # noqa: S101
            request = {
                "job": job_to_json(job),
                "nice": nice,
                "workers": workers,
                "secrets": list(secrets),
                "server": asdict(server) if server else None,
            }
            with suppress(BrokenPipeError, ConnectionResetError):
                child.stdin.write(json.dumps(request).encode() + b"\n")
                await child.stdin.drain()
            report = await _follow(child, job, on_event)
            ended = True
            return report
    except TimeoutError:
        raise BuildFailed(
            f"Indexing {job.repository.name} took longer than {timeout:,.0f} s and was ended.",
            "The former index keeps answering. Allow more time, or exclude what need not be indexed.",
        ) from None
    except _Died as error:
        raise error.said() from None
    except FootnoteError:
        ended = True
        raise
    finally:
        await _end(child, listening, gently=ended)
        if not ended:
            await asyncio.to_thread(_clean_up, job)


class _Died(BuildFailed):
    """The child ended without a report."""

    def __init__(self, job: BuildJob, code: int) -> None:
        self._job, self._code = job, code
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        super().__init__(
            f"The build of {job.repository.name} ended {how} before it was done.",
            "The former index keeps answering. Try again; if memory was short, exclude large files or build elsewhere.",
        )

    def said(self) -> FootnoteError:
        # Writing to a mapped file on a full disk is answered with this signal.
        if self._code == -signal.SIGBUS:
            return disk_full(self._job.data_dir, f"Indexing {self._job.repository.name}")
        return BuildFailed(self.problem, self.remedy)


async def _follow(child: asyncio.subprocess.Process, job: BuildJob, on_event: Callable[[BuildEvent], None]) -> BuildReport:
    assert child.stdout is not None  # noqa: S101
    while line := await child.stdout.readline():
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # cut off by the child's end
        if "event" in said:
            on_event(BuildEvent(**said["event"]))
        elif "report" in said:
            return BuildReport(**said["report"])
        elif "error" in said:
            raise _revived(said["error"])
    raise _Died(job, await child.wait())


async def _end(child: asyncio.subprocess.Process, listening: asyncio.Task[None], *, gently: bool) -> None:
    """Whatever happened, no process of the group outlives this. Cancelling does not interrupt it."""

    async def end() -> None:
        if gently:
            with suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _GRACE)
        # The group's id stays taken while a worker of a dead child lives.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        await asyncio.wait_for(child.wait(), _GRACE)
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(listening, 1.0)

    await asyncio.shield(asyncio.ensure_future(end()))


async def _log_errors(child: asyncio.subprocess.Process, name: str) -> None:
    assert child.stderr is not None  # noqa: S101
    while True:
        try:
            line = await child.stderr.readline()
        except ValueError:  # a line over the limit
            continue
        if not line:
            return
        logger.warning("build of %s: %s", name, line.decode("utf-8", "replace").rstrip()[:500])


def _clean_up(job: BuildJob) -> None:
    """Removes what a killed child left, unless the next build has begun already."""
    directory = repository_directory(job.data_dir, job.repository.name)
    if not directory.is_dir():
        return
    with suppress(BuildRunning, IndexCorrupt, OSError), build_lock(directory, job.repository.name):
        layout = Layout(directory)
        layout.clean(layout.current())


def _revived(values: dict[str, str]) -> FootnoteError:
    kinds = {kind.__name__: kind for kind in _below(FootnoteError)}
    return kinds.get(values["kind"], BuildFailed)(values["problem"], values["remedy"])


def _below(kind: type[FootnoteError]) -> Iterator[type[FootnoteError]]:
    for child in kind.__subclasses__():
        if child is not _Died:
            yield child
            yield from _below(child)


# What follows runs in the child.


class _Speaker:
    """Writes JSON lines; of a stage's events only as many as a person can follow, but always the first and the last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage = ""
        self._last = 0.0

    def say(self, **message: object) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()

    def event(self, event: BuildEvent) -> None:
        now = time.monotonic()
        complete = event.total > 0 and event.done >= event.total
        if event.stage == self._stage and not complete and now - self._last < _EVERY:
            return
        self._stage, self._last = event.stage, now
        self.say(event=asdict(event))


def main() -> int:
    """The child: one job from standard input. 0 with a report, 1 with an error."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    token = os.environ.pop(TOKEN, "")
    with _own_stdout() as stream:
        speaker = _Speaker(stream)
        try:
            if EARLY in sys.argv[1:]:  # whoever started this has no job yet; what follows is loaded meanwhile
                import_module("rag.index.builder")
            request = json.loads(sys.stdin.readline())
            threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
            _give_way(int(request["nice"]))
            # Imported only now: a parent that is gone, or a job that is none, is noticed first, and it happens at the job's priority.
            from rag.index.builder import build
            from rag.index.dense import chosen_backend
            from rag.source.redaction import register_live_secret

            for secret in (token, *request["secrets"]):
                if secret:
                    register_live_secret(secret)
            job = job_from_json(request["job"])
            server = ServerSettings(**request["server"]) if request.get("server") else None
            backend = chosen_backend(server, job.data_dir, job.threads)
            report = build(job, speaker.event, token, backend, workers=int(request.get("workers", 1)))
        except FootnoteError as error:
            speaker.say(error={"kind": type(error).__name__, "problem": error.problem, "remedy": error.remedy})
            return 1
        except Exception as error:
            logger.exception("the build failed unexpectedly")
            problem = f"The build failed unexpectedly ({type(error).__name__})."
            speaker.say(
                error={"kind": "BuildFailed", "problem": problem, "remedy": "The former index keeps answering; the log has the rest."}
            )
            return 1
        speaker.say(report=asdict(report))
        return 0


def _give_way(nice: int) -> None:
    """Lowers the priority of this process and of all that it starts."""
    os.nice(nice)
    # Linux, as desktops have it, shares the processor out by session first: there, nice counts among the processes of a session alone, and
    # this child leads its own. The session has a nice value too; the kernel takes ten changes a second from all processes together. Half of
    # it: a tenth of the processor beside a session that wants all of it, so that a push is still indexed soon on a machine that is busy.
    for _ in range(20):
        try:
            Path("/proc/self/autogroup").write_text(str(nice // 2), encoding="ascii")
        except BlockingIOError:
            time.sleep(0.1)
        except OSError:  # a system without it
            return
        else:
            return


@contextmanager
def _own_stdout() -> Iterator[TextIO]:
    """Standard output for our lines alone: what a library prints goes to standard error."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as stream:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        yield stream


def _end_with_parent() -> NoReturn:
    """Standard input ends when the parent does, however it ended; then this whole group does."""
    while sys.stdin.readline():
        pass
    os.killpg(0, signal.SIGKILL)
    raise AssertionError  # not reached


if __name__ == "__main__":
    sys.exit(main())
