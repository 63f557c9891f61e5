"""`footnote eval`: how well retrieval finds what labelled questions ask for; its subcommands are in `eval_sets` and `eval_history`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli import eval_history, eval_sets
from bot.cli.common import AsJson, Config, command, complain, print_json, settings_of, stderr
from bot.cli.default_command import DefaultCommandGroup

if TYPE_CHECKING:
    from bot.settings import Settings
    from rag.answer_log.evaluations import EvalRun, EvalScore
    from rag.retrieval.reranking.stage import Reranking

HELP = """
Measure retrieval on labelled questions; make such questions.

\b
footnote eval questions.jsonl --repos ~/clones        measures; the options below
footnote eval generate --repo NAME -n 50              makes questions about an indexed repository
footnote eval gap questions.jsonl --repos ~/clones    judges an embedding model before it is trusted
footnote eval history                                 shows how the figures went on

NDCG@10, recall@10, precision@5 and MRR of files and of lines, stage by stage, by data set, language and kind of question, with a 95 %
interval by bootstrap over repositories. Each repository is indexed once at the commit its questions name, and kept for the next run.
Every run is kept in the log and compared with the last one of the same questions.
"""

Repos = Annotated[
    Path | None,
    typer.Option(
        "--repos",
        help="Folder of clones or bare mirrors named owner+name, owner/name or name. Default: the mirrors of what is indexed here.",
        exists=True,
        file_okay=False,
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=DefaultCommandGroup, help=HELP, no_args_is_help=True, rich_markup_mode=None)
    group.command(DefaultCommandGroup.DEFAULT, hidden=True)(evaluate_command)
    eval_sets.register(group)
    eval_history.register(group)
    app.add_typer(group, name="eval")


@command
async def evaluate_command(
    questions: Annotated[
        list[Path], typer.Argument(help="Files of labelled questions, one JSON object a line.", exists=True, dir_okay=False)
    ],
    repos: Repos = None,
    root: Annotated[bool, typer.Option("--root", help="Index only the folder that a question's index_root names.")] = False,
    stage: Annotated[
        list[str] | None,
        typer.Option("--stage", help="Which stage: grep, sparse, dense, fused, ranked, reranked (may be repeated). Default: all."),
    ] = None,
    rankings: Annotated[
        Path | None, typer.Option("--rankings", help="Write 50 results a question here; of several stages, one file each: OUT.STAGE.jsonl.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only questions about this owner/name (may be repeated).")] = None,
    half: Annotated[
        str, typer.Option("--half", help="Only repositories of half a or b, by the hash of their name: choose on one, report the other.")
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Tables by dataset, language, kind or repository (may be repeated). Default: the first three."),
    ] = None,
    by_repository: Annotated[bool, typer.Option("--by-repository", help="A table by repository too.")] = False,
    blank: Annotated[
        bool, typer.Option("--blank", help="Blank in the index the words that questions were made of (their key blank; see generate).")
    ] = False,
    standing: Annotated[bool, typer.Option("--standing", help="Build nothing: ask only what is indexed already.")] = False,
    compare: Annotated[
        str, typer.Option("--compare", help="Which questions changed since a run: its number (eval history), or a file from --json.")
    ] = "",
    fail_on_drop: Annotated[
        bool, typer.Option("--fail-on-drop", help="Exit 3 if NDCG@10 of any stage dropped beyond the 95 % interval.")
    ] = False,
    note: Annotated[str, typer.Option("--note", help="Why this run is made; shown by eval history.")] = "",
    no_log: Annotated[bool, typer.Option("--no-log", help="Keep nothing of this run.")] = False,
    keep: Annotated[int, typer.Option("--keep", min=1, help="Gigabytes of indexes that are kept between runs.")] = 20,
    may_leave: Annotated[
        bool, typer.Option("--may-leave", help="The code that is asked about may be sent to a reranker that is not on this machine.")
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Measure retrieval on labelled questions.

    Example: footnote eval questions.jsonl --repos ~/clones --stage fused --rankings out.jsonl
    """
    from dataclasses import asdict
    from datetime import UTC, datetime
    from importlib.metadata import version

    from bot.part_settings import embedding_settings, retrieval_settings
    from rag.evaluation import compare as comparing
    from rag.evaluation import history, tables
    from rag.evaluation.export import to_json
    from rag.evaluation.report import DIMENSIONS
    from rag.evaluation.runner import RERANKED, STAGES, EvalProgress, EvalSettings, evaluate, select

    if half not in ("", "a", "b"):
        raise typer.BadParameter("it is a or b", param_hint="--half")
    if unknown := [one for one in by or () if one not in DIMENSIONS]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(DIMENSIONS)}", param_hint="--by")
    if unknown := [one for one in stage or () if one not in (*STAGES, RERANKED)]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join((*STAGES, RERANKED))}", param_hint="--stage")
    settings = settings_of(config)
    wanted = select(questions, only=only or (), half=half)
    before = await eval_history.saved_run(settings, compare) if compare else None
    async with _reranking(settings, may_leave=may_leave) as reranking:
        asking = EvalSettings(
            data_dir=settings.data_dir / "evaluation",
            root=root,
            stages=tuple(stage or (*STAGES, *((RERANKED,) if reranking else ()))),
            embedding=embedding_settings(settings),
            retrieval=retrieval_settings(settings),
            blank=blank,
            standing_only=standing,
            most_bytes=keep << 30,
        )
        started_at = datetime.now(UTC)
        with stderr().status("reading questions", spinner="dots") as line:

            def show(progress: EvalProgress) -> None:
                line.update(f"{progress.done}/{progress.total} questions: {progress.step} {progress.repository} {progress.message}")

            places = repos or settings.data_dir / "repositories"
            report = await evaluate(wanted, places, asking, rankings=rankings, on_progress=show, reranking=reranking)
    if as_json:
        found: dict[str, Any] = to_json(report)
    else:
        sys.stdout.write(tables.render(report, (*(by or tables.SHOWN), *(("repository",) if by_repository else ()))))
    run = history.run_of_report(
        report,
        files=questions,
        scope=history.scope_of(root=root, blank=blank),
        settings={
            "version": version("footnote"),
            "embedding": asdict(asking.embedding),
            "retrieval": asdict(asking.retrieval),
            "rerank": {"name": reranking.reranker.name, **asdict(reranking.settings)} if reranking else {},
        },
        note=note,
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )
    scores = comparing.scores_of_report(report)
    number, before = await _kept(settings, run, scores, before, keep=not no_log and bool(report.asked))
    texts = {question.id: question.text for question in report.asked}
    comparison = comparing.compare(scores, before[1], before[0], texts) if before else None
    if as_json:
        found |= {"run": number, "comparison": asdict(comparison) if comparison else None}
        print_json(found)
    elif comparison is not None and (compare or comparison.drops):
        sys.stdout.write("\n" + comparing.render(comparison))
    if number and not as_json:
        sys.stdout.write(f"\nkept as run {number} (footnote eval history)\n")
    if comparison is not None and (said := comparing.loudly(comparison)):
        complain(said)
        if fail_on_drop:
            raise typer.Exit(3)


@asynccontextmanager
async def _reranking(settings: Settings, *, may_leave: bool) -> AsyncIterator[Reranking | None]:
    """The configured reranker, None where there is none or where it may not read the code that is asked about."""
    from bot.part_settings import groq_settings
    from bot.reranking import reranking_of
    from rag.answering.generators.groq import GroqLanguageModel

    model = GroqLanguageModel(groq_settings(settings), settings.groq_api_key.get_secret_value())
    found = reranking_of(settings, model, may_leave=lambda repository: may_leave)
    try:
        if found is not None and not (found.reranker.local or may_leave):
            complain(f"The stage reranked is left out: {found.reranker.name} is not on this machine (--may-leave sends code to it).")
            yield None
        else:
            yield found
    finally:
        if found is not None:
            await found.reranker.aclose()
        await model.aclose()


async def _kept(
    settings: Settings, run: EvalRun, scores: list[EvalScore], before: tuple[str, list[EvalScore]] | None, *, keep: bool
) -> tuple[int, tuple[str, list[EvalScore]] | None]:
    """The number under which the log keeps the run, 0 for none, and what to compare it with: `before`, or the last run like it.

    A log that cannot be written is complained of: the figures were printed already.
    """
    from rag.answer_log import evaluations
    from rag.errors import DatabaseError

    number = 0
    if keep:
        try:
            async with eval_history.log_of(settings) as database:
                if before is None and (former := await database.read(lambda db: evaluations.former(db, run))):
                    before = str(former), await database.read(lambda db: evaluations.scores_of(db, former))
                number = await database.write(lambda db: evaluations.record(db, run, scores))
        except DatabaseError as error:
            complain(f"This run is not kept in the log: {error}")
    return number, before
