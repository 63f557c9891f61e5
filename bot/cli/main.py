"""The `footnote` command and its list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli import answering, evaluating, inspecting, retrieving, running

HELP = """
Answers questions about source repositories, with a checked footnote on every statement.

Start with footnote index PATH_OR_URL, then footnote ask "How does …?".
footnote playground opens the bot in a Slack-shaped page on this machine; footnote serve runs it in Slack.
footnote doctor says what is missing.
"""

# No rich in the help texts: importing it would double the time until they appear.
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def _footnote(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    pass


for module in (retrieving, answering, inspecting, evaluating, running):
    module.register(app)


def main() -> None:
    app(prog_name="footnote")
