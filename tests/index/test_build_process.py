"""The builder as a process: what it tells, how its errors come back, and that it ends when it should."""

from __future__ import annotations

import asyncio
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import BuildFailed, BuildRunning, DiskFull, EmptyRepository, FootnoteError, SourceNotFound
from rag.index.build_child import SpareChild
from rag.index.build_process import _below, _revived, _Speaker, run_build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildEvent, BuildJob, job_to_json
from rag.index.locks import build_lock
from rag.types import Repository
from tests.index.fixtures import commit_files, data_directory, make_repository


def functions(count: int, word: str) -> dict[str, str | bytes | None]:
    """Files of ten functions each, enough to keep a builder busy for a while."""
    body = "    total = {n}\n    for item in {word}_{n}_items:\n        total += item.weight * {n}\n    return total\n"
    return {
        f"{word}/module_{start}.py": "\n\n".join(
            f"def {word}_{n}({word}_{n}_items):\n" + body.format(n=n, word=word) for n in range(start, min(start + 10, count))
        )
        for start in range(0, count, 10)
    }


@pytest.fixture
def job(tmp_path: Path, models_directory: Path) -> BuildJob:
    source = make_repository(tmp_path / "source")
    return BuildJob(Repository("larder", str(source)), data_directory(tmp_path / "data", models_directory), threads=1)


@pytest.fixture
def index(job: BuildJob) -> RepositoryIndex:
    return RepositoryIndex(repository_directory(job.data_dir, "larder"), EdgeBackend(), describe(EmbeddingSettings()))


def builders() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "rag.index.build_process" in child.cmdline()]


def group(leader: int) -> list[int]:
    """Processes of a group that still run."""
    found = []
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def wait_for_none(leader: int, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while group(leader):
        assert time.monotonic() < deadline, f"still running: {group(leader)}"
        time.sleep(0.05)


def leftovers(index: RepositoryIndex) -> list[str]:
    return [path.name for path in index.layout.generations.glob("*") if ".partial" in path.name or list(path.glob("*.partial"))]


async def test_a_child_builds_and_reports(job: BuildJob, index: RepositoryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "canary-groq")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "canary-slack")
    events: list[BuildEvent] = []
    seen: dict[str, str] = {}

    def on_event(event: BuildEvent) -> None:
        events.append(event)
        if event.stage == "chunk" and not seen:
            [child] = builders()
            seen["arguments"] = " ".join(child.cmdline())
            seen["environment"] = json.dumps(dict(child.environ()))
            seen["nice"] = str(child.nice())
            seen["group"] = str(os.getpgid(child.pid))
            seen["pid"] = str(child.pid)

    report = await run_build(job, on_event, token="canary-clone", nice=11)
    stages = list(dict.fromkeys(event.stage for event in events))
    assert stages == ["clone", "read", "chunk", "sparse", "sparse_ready", "embed", "dense", "history", "publish"]
    with index.open() as generation:
        assert (generation.info.generation, generation.info.chunks) == (report.generation, report.chunks)
        assert generation.info.dense_ready
    assert "canary" not in seen["arguments"]
    assert "canary-clone" in seen["environment"]
    assert "canary-groq" not in seen["environment"]
    assert "canary-slack" not in seen["environment"]
    assert int(seen["nice"]) >= 11
    assert seen["group"] == seen["pid"]
    wait_for_none(int(seen["pid"]))
    index.close()


async def test_a_child_that_waits_already_is_taken_once_and_none_is_left(job: BuildJob, index: RepositoryIndex) -> None:
    async with SpareChild(threads=job.threads) as spare:
        (waiting,) = builders()
        assert spare.take("another token", job.threads) is None
        assert spare.take("", job.threads + 1) is None
        report = await run_build(job, lambda event: None, nice=0, spare=spare)
        assert report.chunks > 0
        assert not waiting.is_running()
        again = await run_build(job, lambda event: None, nice=0, spare=spare)
        assert again.unchanged
    async with SpareChild() as spare:
        (unused,) = builders()
    assert not unused.is_running()
    with index.open() as generation:
        assert len(generation.chunks) == report.chunks


async def test_live_secrets_are_in_no_chunk(job: BuildJob, index: RepositoryIndex) -> None:
    commit_files(Path(job.repository.source), {"leak.md": "# Notes\n\nthe word is zebra-quilt-unlikely-7 and clone-with-plum-9\n"})
    await run_build(job, lambda event: None, token="clone-with-plum-9", secrets=["zebra-quilt-unlikely-7"])
    with index.open() as generation:
        [text] = [chunk.text for chunk in generation.chunks.all() if chunk.path == "leak.md"]
    assert "the word is" in text
    assert "zebra-quilt" not in text
    assert "plum" not in text
    index.close()


async def test_errors_come_back_as_what_they_were(job: BuildJob, tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound) as caught:
        await run_build(replace(job, repository=Repository("larder", str(tmp_path / "nowhere"))), lambda event: None)
    assert "nowhere" in caught.value.problem
    assert caught.value.remedy
    empty = make_repository(tmp_path / "empty", {})
    with pytest.raises(EmptyRepository):
        await run_build(replace(job, repository=Repository("empty", str(empty))), lambda event: None)
    with build_lock(repository_directory(job.data_dir, "larder"), "larder"), pytest.raises(BuildRunning):
        await run_build(job, lambda event: None)


def test_every_error_class_can_come_back() -> None:
    kinds = {kind for kind in _below(FootnoteError) if kind.__module__ == FootnoteError.__module__}
    assert len(kinds) > 20
    for kind in kinds:
        revived = _revived({"kind": kind.__name__, "problem": "p", "remedy": "r"})
        assert type(revived) is kind
    assert type(_revived({"kind": "KeyError", "problem": "p", "remedy": "r"})) is BuildFailed


async def test_cancelling_ends_the_child_and_all_below_it(job: BuildJob, index: RepositoryIndex) -> None:
    commit_files(Path(job.repository.source), functions(200, "busy"))
    started = asyncio.Event()
    leader = 0

    def on_event(event: BuildEvent) -> None:
        nonlocal leader
        if event.stage == "embed" and event.done:
            leader = builders()[0].pid
            started.set()

    building = asyncio.create_task(run_build(job, on_event))
    await asyncio.wait_for(started.wait(), 60)
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert group(leader) == []
    assert leftovers(index) == []
    info = index.info()
    assert info is not None
    assert not info.dense_ready


async def test_a_build_that_takes_too_long_is_ended(job: BuildJob) -> None:
    with pytest.raises(BuildFailed, match="longer than"):
        await run_build(job, lambda event: None, timeout=0.3)
    assert builders() == []


async def test_a_killed_child_is_said_and_cleaned_up_after(job: BuildJob, index: RepositoryIndex) -> None:
    first = await run_build(job, lambda event: None)
    commit_files(Path(job.repository.source), functions(20, "more"))

    def on_event(event: BuildEvent) -> None:
        if event.stage == "embed":
            os.kill(builders()[0].pid, signal.SIGKILL)

    with pytest.raises(BuildFailed, match="SIGKILL"):
        await run_build(job, on_event)
    assert [path.name for path in index.layout.generations.iterdir()] == [first.generation]
    assert (await run_build(job, lambda event: None)).chunks > first.chunks


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can limit another process")
async def test_a_disk_that_fills_up_keeps_the_former_index(job: BuildJob, index: RepositoryIndex) -> None:
    """A limit on file size stands in for the disk: the same writes fail, in the same places."""
    first = await run_build(job, lambda event: None)
    commit_files(Path(job.repository.source), functions(20, "more"))
    for stage in ("chunk", "embed", "dense"):
        limited: list[int] = []

        def on_event(event: BuildEvent, stage: str = stage, limited: list[int] = limited) -> None:
            if event.stage == stage and not limited:
                limited.append(builders()[0].pid)
                resource.prlimit(limited[0], resource.RLIMIT_FSIZE, (4_000, 4_000))

        with pytest.raises(DiskFull, match=r"MB are free"):
            await run_build(job, on_event)
        assert limited
        assert [path.name for path in index.layout.generations.iterdir()] == [first.generation]
        with index.open() as generation:
            assert generation.info.generation == first.generation
            assert generation.dense is not None
    index.close()


def test_the_builder_ends_with_its_parent(job: BuildJob) -> None:
    commit_files(Path(job.repository.source), functions(200, "busy"))
    code = (
        "import asyncio, sys\n"
        "from rag.index.build_process import run_build\n"
        "from rag.index.jobs import job_from_json\n"
        "def tell(event):\n"
        "    print(event.stage, flush=True)\n"
        "asyncio.run(run_build(job_from_json(sys.argv[1]), tell))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", code, job_to_json(job)], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    try:
        while parent.stdout.readline().strip() != "embed":
            assert parent.poll() is None
        [builder] = [child for child in psutil.Process(parent.pid).children() if "rag.index.build_process" in child.cmdline()]
    finally:
        parent.kill()
        parent.wait(timeout=10)
        parent.stdout.close()
    wait_for_none(builder.pid)


def test_events_are_thinned_out_but_first_and_last_arrive() -> None:
    stream = io.StringIO()
    speaker = _Speaker(stream)
    for done in range(1_001):
        speaker.event(BuildEvent("embed", done, 1_000))
    speaker.event(BuildEvent("dense", 0, 1_000))
    said = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert len(said) < 20
    assert [said[0]["done"], said[-2]["done"], said[-1]["stage"]] == [0, 1_000, "dense"]
