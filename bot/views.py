"""What `/repo` says and what the Home tab shows. Pure; every name goes through `render`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.render import SECTION_LIMIT, Block, age, code, cut, one_line, section
from bot.services import RepositoryStatus


def help_text(command: str) -> str:
    return "\n".join(
        (
            "Mention me with a question about a repository, and I answer in a thread, with the lines that each statement rests on.",
            f"• {code(f'{command} list')} the repositories that may be discussed here",
            f"• {code(f'{command} use NAME')} which one this channel asks about",
            f"• {code(f'{command} status')} which commit is indexed, how old it is, and what is being built",
            f"To ask about another one, put its name in front: {code('in NAME: your question')}.",
        )
    )


def unknown_subcommand(command: str, verb: str, nearest: str) -> str:
    hint = f" Did you mean {code(f'{command} {nearest}')}?" if nearest else ""
    return f"{code(f'{command} {verb[:40]}')} is not a command.{hint}\n{help_text(command)}"


def list_text(statuses: Sequence[RepositoryStatus], bound: str, now: datetime) -> str:
    lines = [f"• {code(status.name)}{' (this channel)' if status.name == bound else ''}: {_short(status, now)}" for status in statuses]
    return cut("\n".join(("Repositories that may be discussed here:", *lines)), SECTION_LIMIT)


def status_text(statuses: Sequence[RepositoryStatus], bound: str, now: datetime) -> str:
    lines = [f"This channel asks about {code(bound)}." if bound else "No repository is set for this channel."]
    lines += [f"• {code(status.name)}: {_long(status, now)}" for status in statuses]
    return cut("\n".join(lines), SECTION_LIMIT)


def home_view(statuses: Sequence[RepositoryStatus], command: str, now: datetime, problem: str) -> Block:
    """`problem`: why nothing is listed, "" where something is."""
    blocks: list[Block] = [
        {"type": "header", "text": {"type": "plain_text", "text": "Ask about our repositories"}},
        section(help_text(command)),
        {"type": "divider"},
    ]
    blocks += [section(f"*{code(status.name)}* {_long(status, now)}") for status in statuses[:90]]
    if problem:
        blocks.append(section(problem))
    return {"type": "home", "blocks": blocks}


def _short(status: RepositoryStatus, now: datetime) -> str:
    if status.commit and status.built_at:
        return f"commit {code(status.commit[:7])}, indexed {age(status.built_at, now)}"
    return "being indexed" if status.building else "not indexed yet"


def _long(status: RepositoryStatus, now: datetime) -> str:
    parts = [_short(status, now)]
    if status.commit:
        parts.append(f"{status.chunks:,} chunks")
        if not status.dense_ready and not status.notices:
            parts.append("sparse part only so far")
    if status.building:
        parts.append(f"being built ({one_line(status.building)})")
    if status.failed:
        parts.append(f"the last build failed {age(status.failed, now)}; `footnote status` says why")
    return ". ".join((", ".join(parts), *(one_line(notice) for notice in status.notices)))
