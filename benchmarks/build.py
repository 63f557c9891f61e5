"""The index of a git repository: chunks a second by stage, peak memory, and a full build beside one after about 1 % of its files changed.

Every build runs as it does in use, in a process of its own. Each full build starts from an empty data directory; the model's export is
lent to it, for it is made once a machine.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.frame import Bench, Measure, alone, compared
from benchmarks.material import commit_files, git, make_repository, small_files
from rag.errors import FootnoteError
from rag.index.build_process import run_build
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.types import Repository

FULL = "full"
INCREMENTAL = "incremental"
CHANGED = 0.01  # of the files
LONGEST = 10_000  # characters of a file: so few chunks need many files, and one of them is about a hundredth
STAGES = ("read", "chunk", "sparse", "embed", "dense")
_LOOK_BACK = 2_000  # commits


@dataclass(frozen=True)
class Step:
    """What one round builds: a repository as it was before a change, and after it."""

    name: str
    git_dir: Path
    before: str
    after: str
    files: int  # that changed


def run(bench: Bench) -> list[Measure]:
    measures = []
    for name, steps in _subjects(bench):
        measures += _measure(bench, name, steps)
    return measures


def _measure(bench: Bench, name: str, steps: Iterator[Step]) -> list[Measure]:
    full: list[BuildReport] = []
    incremental: list[BuildReport] = []
    changed = []
    for number, step in enumerate(steps):
        data = bench.directory / "build" / f"{name}-{number}"
        bench.lend_models(data)
        bench.progress(f"{name}: round {number + 1} of {bench.rounds}, full")
        full.append(_build(bench, step, data, step.before))
        bench.progress(f"{name}: round {number + 1} of {bench.rounds}, incremental")
        incremental.append(_build(bench, step, data, step.after))
        changed.append(step.files)
        shutil.rmtree(data)
    last = full[-1]
    title = f"{name}, {last.documents:,} files, {last.chunks:,} chunks"
    both = {FULL: full, INCREMENTAL: incremental}
    share = max(report.embedded / report.chunks for report in incremental)
    measures = [
        compared(
            f"{title}: {max(changed)} files changed, {share:.1%} of the chunks embedded",
            "s",
            {side: [report.seconds["total"] for report in reports] for side, reports in both.items()},
            FULL,
        ),
        compared(
            f"{title}: peak memory, workers included",
            "MB",
            {side: [report.peak_memory_bytes / 1e6 for report in reports] for side, reports in both.items()},
            FULL,
        ),
    ]
    rates = {stage: [report.chunks / max(report.seconds.get(stage, 0.0), 1e-3) for report in full] for stage in STAGES}
    measures.append(alone(f"{title}: stages of a full build", "chunks/s", rates, better="more"))
    return measures


def _build(bench: Bench, step: Step, data: Path, commit: str) -> BuildReport:
    job = BuildJob(Repository(step.name, str(step.git_dir)), data, commit=commit, source_git_dir=str(step.git_dir))

    def tell(event: BuildEvent) -> None:
        if event.stage == "embed" and event.total:
            bench.progress(f"{step.name}: embedding {event.done:,} of {event.total:,}")

    return asyncio.run(run_build(job, tell, nice=0))


def _subjects(bench: Bench) -> Iterator[tuple[str, Iterator[Step]]]:
    if not bench.material.clones:
        yield "synthesised", _synthesised(bench)
    for clone in bench.material.clones:
        try:
            step = historic(clone)
        except FootnoteError as error:
            bench.progress(f"{clone.name} is left out: {error.problem}")
            continue
        yield clone.name, iter([step] * bench.rounds)


def _synthesised(bench: Bench) -> Iterator[Step]:
    """A repository of installed packages' sources; a new change each round."""
    files = small_files(bench.sized(800), LONGEST)
    home = make_repository(bench.directory / "synthesised", files)
    chance = random.Random(1)
    before = git(home, "rev-parse", "HEAD")
    for number in range(bench.rounds):
        picked = chance.sample(sorted(files), max(1, round(CHANGED * len(files))))
        for path in picked:
            files[path] += f"\n\ndef added_in_round_{number}(value):\n    return value + {number}\n"
        after = commit_files(home, {path: files[path] for path in picked})
        yield Step("synthesised", home, before, after, len(picked))
        before = after


def historic(clone: Path) -> Step:
    """From the newest commit of a clone's own history that is about CHANGED of its files away from its head."""
    after = git(clone, "rev-parse", "HEAD")
    files = len(git(clone, "ls-tree", "-r", "--name-only", after).splitlines())
    wanted = max(1, round(CHANGED * files))
    commits = git(clone, "rev-list", "--first-parent", f"--max-count={_LOOK_BACK}", after).splitlines()[1:]
    low, high = 0, len(commits) - 1
    if high < 0:
        raise FootnoteError("it has a single commit")
    while low < high:  # differences grow with distance, nearly always
        middle = (low + high) // 2
        if _changed(clone, commits[middle], after) < wanted:
            low = middle + 1
        else:
            high = middle
    return Step(clone.name.removesuffix(".git"), clone, commits[low], after, _changed(clone, commits[low], after))


def _changed(clone: Path, before: str, after: str) -> int:
    return len(git(clone, "diff", "--name-only", "--no-renames", before, after).splitlines())
