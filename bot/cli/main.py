"""The `footnote` command and its list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli import answering, evaluating, inspecting, retrieving, running

HELP = """
Answers questions about source repositories, with a checked footnote on every statement.

Start with [bold]footnote index PATH_OR_URL[/bold], then [bold]footnote ask "How does …?"[/bold].
[bold]footnote playground[/bold] opens the bot in a Slack-shaped page on this machine; [bold]footnote serve[/bold] runs it in Slack.
[bold]footnote doctor[/bold] says what is missing.
"""

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)


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
