"""The command line: `footnote …`. Each module holds a few commands; heavy libraries are imported by the command that needs them."""

from bot.cli.main import app, main

__all__ = ["app", "main"]
