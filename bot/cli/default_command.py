"""A group of commands one of which needs no name: `footnote eval questions.jsonl` beside `footnote eval history`."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.core import TyperGroup


class DefaultCommandGroup(TyperGroup):
    """Whatever does not begin with a subcommand's name goes to the hidden command `run`, whose options the group's help shows.

    A file that is called like a subcommand is given with its folder: ./history.
    """

    DEFAULT: ClassVar[str] = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.DEFAULT, *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["QUESTIONS...", "[OPTIONS]", "|", "COMMAND", "[ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        default = self.commands[self.DEFAULT]
        rows = [row for parameter in default.get_params(ctx) if (row := parameter.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(rows)
        self.format_commands(ctx, formatter)
