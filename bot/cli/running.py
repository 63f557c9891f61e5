"""`footnote serve` and `footnote playground`: the bot, in Slack and in a page on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.common import Config, command, settings_of


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("playground")(playground)


@command
async def serve(config: Config = None) -> None:
    """Answer in Slack, until it is stopped.

    Over Socket Mode; it also rebuilds the indexes each night. Needs SLACK_BOT_TOKEN (xoxb-…) and SLACK_APP_TOKEN (xapp-…) in the
    environment, and repositories with an audience in footnote.toml.
    While it runs, other commands ask it: footnote search, ask and status work beside it.

    Example: SLACK_BOT_TOKEN=… SLACK_APP_TOKEN=… footnote serve --config footnote.toml
    """
    from bot.cli.service import serve_slack

    await serve_slack(settings_of(config))


@command
async def playground(
    sources: Annotated[list[str] | None, typer.Argument(help="Paths or URLs of repositories to index first.", metavar="[SOURCE]…")] = None,
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Port of the page on this machine; 0 takes a free one.")
    ] = 8700,
    config: Config = None,
) -> None:
    """Open the bot in a Slack-shaped page on this machine. No account, no token.

    The bot is the one that runs in Slack; only the address of the Web API differs.

    Example: footnote playground . --port 8700
    """
    from bot.cli.service import serve_playground

    await serve_playground(settings_of(config), sources or [], port)
