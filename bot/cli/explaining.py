"""What `footnote index --explain` and `--stats` print: what is in an index, what is not and why, and how its chunks are distributed."""

from __future__ import annotations

import sys
from typing import Any

from bot.cli.common import complain, only_repository, print_json, stdout, visible
from bot.settings import Settings

Json = dict[str, Any]


async def explain(settings: Settings, source: str, name: str, branch: str, *, as_json: bool) -> None:
    """Every file of the repository at the indexed commit, one a line."""
    from bot.engine import run

    files: list[Json] = []
    found: Json = {}
    wanted = {"source": source or await only_repository(settings, name), "name": name, "branch": branch}
    async for message in run(settings, "explain", wanted):
        if "files" in message:
            files += message["files"]
        else:
            found = message
    if as_json:
        print_json({**found, "files": files})
        return
    index = found["index"]
    write = sys.stdout.write
    write(f"{index['repository']} at {index['commit'][:12]} ({index['branch'] or 'detached'}): {_files(found['total'])},")
    write(f" {found['indexed']:,} in the index with {found['chunks']:,} chunks, {found['total'] - found['indexed']:,} left out\n")
    width = max((len(file["language"]) for file in files), default=0)
    for file in files:
        write(f"{_one_line(file, width)}\n")
    for left_out in found["skipped"]:
        write(f"left out: {_files(left_out['files'])}: {left_out['reason']} ({left_out['explanation']})\n")
    for fallback in found["fallbacks"]:
        write(f"cut by lines: {_files(fallback['files'])}: {fallback['reason']} ({fallback['explanation']})\n")
    if found["cut_lines"]:
        write(f"lines too long to be indexed whole: {found['cut_lines']:,}\n")
    if not found["complete"]:
        complain(f"This index was written before language and fallback were kept: footnote index {index['repository']} writes it anew.")


def _one_line(file: Json, width: int) -> str:
    path = visible(file["path"]).replace("\n", "\\n").replace("\t", "\\t")
    if file["skipped"]:
        return f"{'-':>6}  {'':{width}}  {path}  left out: {file['skipped']} ({file['explanation']})"
    line = f"{file['chunks']:>6}  {file['language']:{width}}  {path}"
    if file["fallback"]:
        line += f"  cut by lines: {file['fallback']} ({file['explanation']})"
    if file["cut_lines"]:
        line += f"  only the beginning of {file['cut_lines']:,} long line{'s' * (file['cut_lines'] > 1)}"
    return line


def _files(count: int) -> str:
    return f"{count:,} file{'s' * (count != 1)}"


async def stats(settings: Settings, source: str, name: str, branch: str, *, as_json: bool) -> None:
    """The distribution of chunks, a row a language."""
    from bot.engine import result

    wanted = {"source": source or await only_repository(settings, name), "name": name, "branch": branch}
    found = await result(settings, "stats", wanted)
    if as_json:
        print_json(found)
        return
    from rich.table import Table

    index, window, small = found["index"], found["window"], found["small"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("language", "files", "chunks", "characters", "tokens", "encoded", f"under {small}", f"over {window}", "inside"):
        table.add_column(column, justify="left" if column == "language" else "right")
    for row in (*found["languages"], found["total"]):
        sizes = [f"{row[key]:.0f}" for key in ("median_chars", "median_tokens", "median_encoded_tokens")]
        shares = [f"{100 * row[key]:.1f} %" for key in ("small_share", "over_window_share", "inside_definition_share")]
        total = row is found["total"]
        table.add_row(row["language"], f"{row['files']:,}", f"{row['chunks']:,}", *sizes, *shares, style="bold" if total else "")
    out = stdout()
    out.print(f"{index['repository']} at {index['commit'][:12]} ({index['branch'] or 'detached'})", markup=False)
    out.print(table)
    out.print(
        f"characters, tokens: median of a chunk's lines; encoded: with what the model reads before them, at most "
        f"{found['total']['longest_encoded_tokens']} of {window}.\nunder {small}: share with fewer tokens; over {window}: share that the "
        "model would cut; inside: share that begins inside the definition it is named after.",
        style="dim",
        markup=False,
    )
