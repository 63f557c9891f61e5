"""`footnote ask` and `footnote chat`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import typer

from bot.cli.common import (
    AsJson,
    Author,
    Before,
    Config,
    Languages,
    Paths,
    Repo,
    Since,
    command,
    complain,
    narrowed,
    only_repository,
    print_json,
    settings_of,
    stdout,
    visible,
)
from rag.errors import FootnoteError

KEPT_TURNS = 4


def register(app: typer.Typer) -> None:
    app.command("ask", no_args_is_help=True)(ask)
    app.command("chat")(chat)


@command
async def ask(
    question: Annotated[str, typer.Argument(help="The question, in words.")],
    repo: Repo = "",
    path: Paths = None,
    language: Languages = None,
    author: Author = None,
    since: Since = "",
    before: Before = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Ask a question; the answer is streamed, its citations follow.

    "Who knows about X?" is answered from the history: the authors of the files that X is about.

    Example: footnote ask "How are blueprints registered?" --repo flask
    """
    from bot.engine import run

    settings = settings_of(config)
    name = await only_repository(settings, repo)
    arguments = {"question": question, "repository": name, **narrowed(path, language, author, since, before)}
    answer = await _show(run(settings, "ask", arguments), quiet=as_json)
    if as_json:
        print_json(answer)


async def _show(messages: AsyncIterator[dict[str, Any]], *, quiet: bool) -> dict[str, Any]:
    """Print statements as they come, then the citations; give back the whole answer."""
    out = stdout()
    shown = ""
    answer: dict[str, Any] = {}
    async for message in messages:
        if "piece" not in message:
            answer = message
        elif not quiet:
            shown += message["piece"]
            out.print(visible(message["piece"]), markup=False, end="")
    if quiet:
        return answer
    if not answer:
        raise FootnoteError("The answer did not arrive whole.", "Ask again.")
    if shown.strip() != answer["answer"].strip():
        if shown:
            out.print("\n\n(the answer was corrected:)", style="dim")
        out.print(visible(answer["answer"]), markup=False, end="")
    out.print("\n")
    for cited in answer["citations"]:
        place = f"{cited['path']}:{cited['start_line']}-{cited['end_line']}"
        link = cited["permalink"] or f"at {cited['commit'][:12]}"
        out.print(visible(f"  [{cited['number']}] {place}"), markup=False, style="cyan", end="")
        out.print(visible(f"  {link}"), markup=False, style="dim")
    for notice in answer["notices"]:
        complain(notice)
    total = answer["seconds"].get("total", sum(answer["seconds"].values()))
    index = answer["index"]
    out.print(
        f"\n{index['repository']} at {index['commit'][:12]} · {answer['generator']} · {total:.1f} s · {answer['answer_id']}",
        style="dim",
        markup=False,
    )
    return answer


@command
async def chat(repo: Repo = "", config: Config = None) -> None:
    """Questions and follow-ups at a prompt, until "exit".

    Example: footnote chat --repo flask
    """
    import asyncio

    from bot.data_directory import DataDirectory
    from bot.engine import run
    from rag.errors import DataDirectoryLocked

    settings = settings_of(config)
    name = await only_repository(settings, repo)
    history: list[dict[str, str]] = []

    async def loop(operation: Any) -> None:
        while True:
            try:
                question = (await asyncio.to_thread(input, f"{name}> ")).strip()
            except EOFError:
                return
            if question.casefold() in ("exit", "quit"):
                return
            if not question:
                continue
            arguments = {"question": question, "repository": name, "history": history[-KEPT_TURNS:]}
            try:
                answer = await _show(operation(arguments), quiet=False)
            except FootnoteError as error:
                complain(str(error))
                continue
            history.append({"question": question, "answer": answer["answer"]})

    stdout().print(f'Ask about {name}; "exit" ends it.', style="dim", markup=False)
    try:
        directory = DataDirectory(settings.data_dir).acquire()
    except DataDirectoryLocked:
        await loop(lambda arguments: run(settings, "ask", arguments))
        return
    from bot.wiring.parts import owning

    async with owning(settings, directory, "footnote chat", answer_others=True, serving=True) as operations:
        await loop(lambda arguments: operations.run("ask", arguments))
