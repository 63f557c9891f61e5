"""`footnote eval generate` and `footnote eval gap`: sets of questions, and what an embedding model makes of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, Config, Repo, command, complain, only_repository, print_json, settings_of, stderr

if TYPE_CHECKING:
    from bot.settings import Settings
    from rag.evaluation.generate import QuestionSet

OPTIMISTIC = (
    "Made of the repository's own headings and comments, which retrieval finds by their own words: figures on them are optimistic. "
    "Measure them with footnote eval --blank, which blanks these words in the index."
)


def register(group: typer.Typer) -> None:
    group.command("generate")(generate_command)
    group.command("gap", no_args_is_help=True)(gap_command)


@command
async def generate_command(
    repo: Repo = "",
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=2000, help="How many questions.")] = 50,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where they go. Default: standard output.", dir_okay=False, show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another number draws other chunks.")] = 0,
    without_model: Annotated[
        bool, typer.Option("--without-model", help="Make them of headings and comments even where a generator is configured.")
    ] = False,
    config: Config = None,
) -> None:
    """Make questions about an indexed repository, to begin a set of your own.

    The repository's generator writes them for chunks drawn from its index; where it has none, they are made of headings, first sentences
    of the documentation and doc comments. Go through them by hand: a line a question, strike out what nobody would ask.

    Example: footnote eval generate --repo flask -n 50 --out flask.jsonl && footnote eval flask.jsonl --blank
    """
    settings = settings_of(config)
    name = await only_repository(settings, repo)
    found = await _generate(settings, name, count, seed, without_model)
    if out is not None:
        found.write(out)
    else:
        import json

        sys.stdout.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in found.rows)
    if found.writer:
        complain(f"{len(found.rows)} questions written by {found.writer}; {found.malformed} replies were malformed and left out.")
    else:
        complain(f"{len(found.rows)} questions. {OPTIMISTIC}")
    if len(found.rows) < count:
        complain(f"There were not enough places for {count}.")


async def _generate(settings: Settings, name: str, count: int, seed: int, without_model: bool) -> QuestionSet:
    import asyncio

    from bot.part_settings import configured_repositories, groq_settings
    from rag.answering.generators.groq import GroqLanguageModel
    from rag.evaluation.generate import from_model, from_texts, indexed_chunks
    from rag.index.generation import repository_directory

    key = settings.groq_api_key.get_secret_value()
    leaves = any(one.name == name and one.generator != "extractive" for one in configured_repositories(settings))
    commit, chunks = await asyncio.to_thread(indexed_chunks, repository_directory(settings.data_dir, name))
    if without_model or not leaves or not key:
        return await asyncio.to_thread(from_texts, name, commit, chunks, count, seed=seed)
    model = GroqLanguageModel(groq_settings(settings), key)
    try:
        with stderr().status("writing questions", spinner="dots") as line:

            def show(done: int, total: int) -> None:
                line.update(f"writing questions: {done} of {total}")

            return await from_model(name, commit, chunks, count, model, seed=seed, on_progress=show)
    finally:
        await model.aclose()


@command
async def gap_command(
    questions: Annotated[
        list[Path], typer.Argument(help="Files of labelled questions, one JSON object a line.", exists=True, dir_okay=False)
    ],
    repos: Annotated[
        Path | None,
        typer.Option(
            "--repos",
            help="Folder of clones. Default: the mirrors of what is indexed here.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="Another sentence-transformers model, by name or path. Default: the configured one.")
    ] = "",
    root: Annotated[bool, typer.Option("--root", help="Draw only from the folder that a question's index_root names.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only questions about this owner/name (may be repeated).")] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Judge an embedding model before trusting it: are questions closer to the places that answer them than to others?

    Only the questions, their places and a few others are embedded, so it takes a minute where an index takes an hour.

    Example: footnote eval gap questions.jsonl --repos ~/clones --model all-mpnet-base-v2
    """
    from dataclasses import replace

    import numpy as np

    from bot.part_settings import embedding_settings
    from rag.evaluation.gap import measure_gap, render
    from rag.evaluation.runner import select

    settings = settings_of(config)
    embedding = embedding_settings(settings)
    with stderr().status("reading questions", spinner="dots") as line:
        report = await measure_gap(
            select(questions, only=only or ()),
            repos or settings.data_dir / "repositories",
            data_dir=settings.data_dir / "evaluation",
            embedding=replace(embedding, model=model) if model else embedding,
            root=root,
            on_progress=line.update,
        )
    if as_json:
        sides = {
            name: [float(np.percentile(values, at)) for at in (10, 50, 90)]
            for name, values in (("matching", report.matching), ("others", report.others))
        }
        figures = {"gap": report.gap, "auc": report.auc, "pooled_auc": report.pooled_auc, "percentiles_10_50_90": sides}
        print_json({"model": report.model, "questions": report.questions, **figures, "verdict": report.verdict})
    else:
        sys.stdout.write(render(report))
