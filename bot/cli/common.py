"""What every command does alike: options, one clear line for an error, JSON on standard output, progress on standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from bot.settings import Settings

WIDTH_OF_A_PIPE = 240
P = ParamSpec("P")
T = TypeVar("T")

Config = Annotated[
    Path | None,
    typer.Option("--config", help="The configuration file. Default: ./footnote.toml, else the data directory's.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for programs.")]
Repo = Annotated[
    str, typer.Option("--repo", "-r", help="Name of the repository (footnote repos lists them). Needed where there are several.")
]
Paths = Annotated[list[str] | None, typer.Option("--path", help="Only files that match this glob (may be repeated).")]
Languages = Annotated[list[str] | None, typer.Option("--language", "-L", help="Only this language (may be repeated).")]
Author = Annotated[
    list[str] | None, typer.Option("--author", help="Only files last changed by this author: a name or some words of it (may be repeated).")
]
Since = Annotated[str, typer.Option("--since", help="Only files changed since this day (2024-03-01, 2024-03 or 2024).", show_default=False)]
Before = Annotated[str, typer.Option("--before", help="Only files last changed before this day.", show_default=False)]


def narrowed(
    path: list[str] | None, language: list[str] | None, author: list[str] | None, since: str, before: str
) -> dict[str, list[str] | str]:
    """What the options that narrow a search say, as the operations "search" and "ask" take it."""
    return {"path": path or [], "language": language or [], "author": author or [], "since": since, "before": before}


def settings_of(config: Path | None) -> Settings:
    from bot.configuration import load_settings

    return load_settings(config)


def command(function: Callable[P, Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a coroutine a command: runs it, and turns a FootnoteError into one clear line and exit 1, an interrupt into exit 130."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        import asyncio

        from rag.errors import FootnoteError

        logging.basicConfig(level=logging.WARNING, format="footnote: %(message)s", stream=sys.stderr)
        logging.getLogger("rag.answering.pipeline").setLevel(logging.CRITICAL)  # the error itself is told below, in one line
        try:
            code = asyncio.run(function(*args, **kwargs))
        except FootnoteError as error:
            if kwargs.get("as_json"):
                print_json({"error": type(error).__name__, "problem": error.problem, "remedy": error.remedy})
            complain(str(error))
            raise typer.Exit(1) from None
        except (KeyboardInterrupt, asyncio.CancelledError):
            complain("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader of our output has gone: `footnote search … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to flush is wanted by nobody
            raise typer.Exit(0) from None
        if code:
            raise typer.Exit(code)

    return run


def complain(problem: str) -> None:
    """One line on standard error, whatever is in it."""
    sys.stderr.write(f"footnote: {' '.join(problem.split())}\n")


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def stdout() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `command` ends it: rich would exit 1

    # A pipe has no width: a table that is cut at 80 columns would lose its ids.
    return Piped(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def visible(text: str) -> str:
    """Text of a repository, safe to print: control characters, which could drive the terminal, become visible."""
    return "".join(character if character in "\n\t" or character.isprintable() else f"\\u{ord(character):04x}" for character in text)


async def only_repository(settings: Settings, name: str) -> str:
    """`name`, or, where none was given and there is just one repository, that one's. Raises: ConfigurationError."""
    from bot.engine import result
    from rag.errors import ConfigurationError

    if name:
        return name
    names = [row["name"] for row in (await result(settings, "repos", {}))["repositories"]]
    if len(names) == 1:
        return str(names[0])
    if not names:
        raise ConfigurationError("Nothing is indexed yet.", "Start with: footnote index PATH_OR_URL")
    raise ConfigurationError("Several repositories are indexed.", f"Name one with --repo: {', '.join(names)}")
