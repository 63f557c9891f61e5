"""`footnote eval history`: the runs that the log keeps."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import AsJson, Config, command, complain, print_json, settings_of

if TYPE_CHECKING:
    from bot.settings import Settings
    from rag.answer_log.evaluations import EvalRun, EvalScore
    from rag.database import Database


def register(group: typer.Typer) -> None:
    group.command("history")(history_command)


@asynccontextmanager
async def log_of(settings: Settings) -> AsyncIterator[Database]:
    """The log, for a read or one short write: SQLite lets that happen beside a running bot, without owning the data directory.

    Raises: DatabaseError, ConfigurationError.
    """
    from bot.data_directory import DataDirectory
    from bot.wiring.parts import MIGRATIONS
    from rag.database import Database

    directory = DataDirectory(settings.data_dir)
    directory.create()
    async with Database(directory.database, MIGRATIONS) as database:
        yield database


async def saved_run(settings: Settings, which: str) -> tuple[str, list[EvalScore]]:
    """A run by its number in the log, or by the file that --json was written to: its name, and its single questions.

    Raises: EvaluationError, DatabaseError.
    """
    from rag.answer_log import evaluations
    from rag.errors import EvaluationError
    from rag.evaluation.compare import scores_of_file

    if not which.isdigit():
        return which, scores_of_file(Path(which))
    async with log_of(settings) as database:
        found = await database.read(lambda db: evaluations.scores_of(db, int(which)))
    if not found:
        raise EvaluationError(f"The log keeps no questions of a run {which}.", "footnote eval history lists the runs.")
    return which, found


@command
async def history_command(
    dataset: Annotated[str, typer.Option("--dataset", help="Only this data set.")] = "",
    stage: Annotated[str, typer.Option("--stage", help="Only this stage.")] = "",
    lines: Annotated[bool, typer.Option("--lines", help="Whether the right lines were found, instead of the right files.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=1000, help="How many runs, from the last one back.")] = 30,
    fail_on_drop: Annotated[
        bool, typer.Option("--fail-on-drop", help="Exit 3 if the last run dropped beyond the 95 % interval of its difference.")
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show and plot the runs that the log keeps, by data set and stage; say loudly if the last one dropped.

    Example: footnote eval history --dataset concept --stage fused
    """
    from bot.wire import plain
    from rag.answer_log import evaluations
    from rag.evaluation.compare import loudly
    from rag.evaluation.history import render, series_of

    settings = settings_of(config)
    async with log_of(settings) as database:
        runs = await database.read(lambda db: evaluations.runs(db, limit))
        comparison = await _last(database, runs)
    series = series_of(runs, dataset=dataset, stage=stage, level="lines" if lines else "files")
    if as_json:
        print_json({"runs": plain(runs), "drops": [asdict(one) for one in comparison.drops] if comparison else []})
    else:
        sys.stdout.write(render(runs, series))
    if comparison is not None and (said := loudly(comparison)):
        complain(said)
        if fail_on_drop:
            raise typer.Exit(3)


async def _last(database: Database, runs: list[EvalRun]) -> Any:
    """The last run against the one before it that asked the same; None where there is none."""
    from rag.answer_log import evaluations
    from rag.evaluation.compare import compare

    if not runs:
        return None
    former = await database.read(lambda db: evaluations.former(db, runs[-1]))
    if not former:
        return None
    now = await database.read(lambda db: evaluations.scores_of(db, runs[-1].id))
    before = await database.read(lambda db: evaluations.scores_of(db, former))
    return compare(now, before, str(former))
