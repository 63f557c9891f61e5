"""`footnote eval`: how well retrieval finds what labelled questions ask for."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import AsJson, Config, command, print_json, settings_of, stderr


class Stage(StrEnum):
    GREP = "grep"
    SPARSE = "sparse"
    DENSE = "dense"
    FUSED = "fused"
    RANKED = "ranked"


def register(app: typer.Typer) -> None:
    app.command("eval", no_args_is_help=True)(evaluate_command)


@command
async def evaluate_command(
    questions: Annotated[Path, typer.Argument(help="Labelled questions, one JSON object a line.", exists=True, dir_okay=False)],
    repos: Annotated[
        Path,
        typer.Option(
            "--repos", help="Folder of clones or bare mirrors named owner+name, owner/name or name.", exists=True, file_okay=False
        ),
    ],
    root: Annotated[bool, typer.Option("--root", help="Index only the folder that a question's index_root names.")] = False,
    stage: Annotated[list[Stage] | None, typer.Option("--stage", help="Which stage (may be repeated). Default: all.")] = None,
    rankings: Annotated[
        Path | None, typer.Option("--rankings", help="Write 50 results a question here; of several stages, one file each: OUT.STAGE.jsonl.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only questions about this owner/name (may be repeated).")] = None,
    by_repository: Annotated[bool, typer.Option("--by-repository", help="Also NDCG@10 repository by repository.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Measure retrieval on labelled questions.

    NDCG@10, recall@10, precision@5 and MRR, stage by stage. Each repository is indexed once at the commit its questions name, and
    kept for the next run.

    Example: footnote eval questions.jsonl --repos ~/clones --stage fused --rankings out.jsonl
    """
    from bot.wiring import embedding_settings, retrieval_settings
    from rag.evaluation.report import render, to_json
    from rag.evaluation.runner import EvalProgress, evaluate

    settings = settings_of(config)
    console = stderr()
    with console.status("reading questions", spinner="dots") as line:

        def show(progress: EvalProgress) -> None:
            line.update(f"{progress.done}/{progress.total} questions: {progress.step} {progress.repository} {progress.message}")

        report = await evaluate(
            questions,
            repos,
            root=root,
            stages=[str(one) for one in stage or list(Stage)],
            rankings=rankings,
            only=only or (),
            data_dir=settings.data_dir / "evaluation",
            embedding=embedding_settings(settings),
            retrieval=retrieval_settings(settings),
            on_progress=show,
        )
    if as_json:
        print_json(to_json(report))
    else:
        sys.stdout.write(render(report, by_repository=by_repository))
