"""`footnote repos`, `status`, `log` and `doctor`: what there is, what runs, what was answered, what is missing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from bot.cli.common import AsJson, Config, command, complain, print_json, settings_of, stderr, stdout, visible


def register(app: typer.Typer) -> None:
    app.command("repos")(repos)
    app.command("status")(status)
    log = typer.Typer(invoke_without_command=True)
    log.callback()(log_list)
    log.command("show", no_args_is_help=True)(log_show)
    app.add_typer(log, name="log")
    app.command("doctor")(doctor)


@command
async def repos(as_json: AsJson = False, config: Config = None) -> None:
    """List what is indexed.

    At which commit, how old, how big, and who writes the answers.

    Example: footnote repos
    """
    from bot.engine import result

    found = (await result(settings_of(config), "repos", {}))["repositories"]
    if as_json:
        print_json(found)
        return
    if not found:
        complain("Nothing is indexed yet. Start with: footnote index PATH_OR_URL")
        return
    _print_repositories(found)


def _print_repositories(found: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "commit", "age", "documents", "chunks", "size", "answers by", "source"):
        table.add_column(column, justify="right" if column in ("documents", "chunks", "size") else "left")
    for row in found:
        index = row["index"]
        if index is None:
            cells = [row["name"], "not indexed", "", "", "", "", row["generator"], row["source"]]
        else:
            dense = "" if index["dense_ready"] or index["notices"] else " (dense part being built)"
            cells = [row["name"], index["commit"][:12] + dense, _span(index["age_seconds"]), str(index["documents"]), str(index["chunks"])]
            cells += [f"{index['bytes'] / 1e6:.1f} MB", row["generator"], row["source"]]
        table.add_row(*(Text(visible(cell)) for cell in cells))
    stdout().print(table)
    for row in found:
        if row["problem"]:
            complain(f"{row['name']}: {row['problem']}")
        elif not row["fits"] and row["index"]["dense_ready"]:
            complain(f"{row['name']}: its index was built with other settings or by another version; the next build replaces it.")


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"


@command
async def status(as_json: AsJson = False, config: Config = None) -> None:
    """Show indexes, builds and jobs.

    What is indexed and how old, what is being built, the last and next run of each job, and why the last one failed.

    Example: footnote status --json
    """
    from bot.engine import result

    found = await result(settings_of(config), "status", {})
    if as_json:
        print_json(found)
        return
    out = stdout()
    out.print(f"data directory {found['data_dir']}, read by {found['owner']}", style="dim", markup=False)
    _print_repositories(found["repositories"])
    for row in found["repositories"]:
        last = row["last_build"]
        if last and not last["ok"]:
            complain(f"{row['name']}: the last build ({last['cause']}, {last['finished_at']}) failed: {last['error']}")
    for build in found["building"]:
        out.print(f"building {build['repository']}: {build['stage']} {build['done']}/{build['total'] or '?'}", markup=False)
    never = "at the next start" if found["scheduled"] else "when footnote serve runs"
    for job in found["jobs"]:
        last = (
            "never ran" if job["last_run"] is None else f"last run {job['last_run']} {'well' if job['ok'] else 'failed: ' + job['reason']}"
        )
        out.print(f"{job['job']}: {last}; next run {job['next_run'] or never}", markup=False)
    if not found["scheduled"]:
        out.print("no job is scheduled here: footnote serve does that", style="dim")


@command
async def log_list(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, help="How many.")] = 20,
    repo: Annotated[str, typer.Option("--repo", "-r", help="Only answers about this repository.")] = "",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List the newest questions and their answers.

    footnote log show ID shows one completely.

    Example: footnote log --limit 5
    """
    from bot.engine import result

    if context.invoked_subcommand is not None:
        return
    rows = (await result(settings_of(config), "log", {"limit": limit, "repository": repo}))["answers"]
    if as_json:
        print_json(rows)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("answer", "asked", "repository", "state", "cited", "votes", "faithful", "question"):
        table.add_column(column, no_wrap=column != "question", min_width=16 if column in ("answer", "asked") else None)
    for row in rows:
        state = "abstained" if row["abstained"] else row["error_kind"] or row["state"]
        votes = f"+{row['up']} -{row['down']}" if row["up"] or row["down"] else ""
        faithful = "" if row["faithfulness"] is None else f"{row['faithfulness']:.2f}"
        asked = f"{row['asked_at'][:10]} {row['asked_at'][11:16]}"
        cells = (row["id"], asked, row["repository"], state, str(row["citations"]), votes, faithful, row["question"])
        table.add_row(*(Text(visible(str(cell))) for cell in cells))
    stdout().print(table if rows else "Nothing has been asked yet.")


@command
async def log_show(
    answer_id: Annotated[str, typer.Argument(help="The answer's id, as footnote log prints it.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show one answer completely.

    The question, the answer, what was retrieved with every score, votes, judgements, and the time of each stage.

    Example: footnote log show 01JD3Z… --json
    """
    from bot.engine import result

    row = await result(settings_of(config), "show", {"answer_id": answer_id})
    if as_json:
        print_json(row)
        return
    out = stdout()

    def line(text: str, style: str = "") -> None:
        out.print(visible(text), markup=False, style=style or None)

    line(f"{row['id']}  {row['asked_at']}  {row['repository']} at {row['commit'][:12]}  {row['generator']}  {row['state']}", "dim")
    line(row["question"], "bold")
    line(row["text"] or f"({row['error_kind']}, reference {row['reference']})")
    for cited in row["citations"]:
        line(f"  [{cited['number']}] {cited['path']}:{cited['start_line']}-{cited['end_line']}  {cited['permalink']}", "cyan")
    for notice in row["notices"]:
        line(f"  notice: {notice}")
    line("retrieved:", "bold")
    for found in row["results"]:
        chunk = found["chunk"]
        scores = "  ".join(f"{stage} {score:.4g}" for stage, score in found["scores"].items())
        line(f"  {found['rank']:>2} {chunk['path']}:{chunk['start_line']}-{chunk['end_line']}  {scores}", "dim")
    line("seconds: " + ", ".join(f"{stage} {value:.3f}" for stage, value in row["seconds"].items()), "dim")
    for vote in row["votes"]:
        line(f"vote {vote['value']:+d} by {vote['voter']} {vote['voted_at']} {vote['reason']}")
    for judgement in row["judgements"]:
        line(f"faithfulness {judgement['faithfulness']:.2f} ({judgement['supported']}/{judgement['statements']}) by {judgement['judge']}")


@command
async def doctor(as_json: AsJson = False, config: Config = None) -> int:
    """Check that what is configured works.

    What is missing, whether each token, model and store answers, and the remedy. Exits 1 if something that is configured does not
    work. Example: footnote doctor
    """
    from bot.doctor import examine

    with stderr().status("checking: the first time, the embedding model is exported, which takes half a minute"):
        findings = await examine(config)
    if as_json:
        print_json([{"what": one.what, "state": one.state, "detail": one.detail, "remedy": one.remedy} for one in findings])
    else:
        out = stdout()
        marks = {"ok": ("✓", "green"), "off": ("–", "dim"), "failed": ("✗", "red")}
        for one in findings:
            mark, style = marks[one.state]
            out.print(f"{mark} {visible(one.what)}: {visible(one.detail)}", markup=False, style=style)
            if one.remedy:
                out.print(f"    {visible(one.remedy)}", markup=False)
        out.print(f"checked {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", style="dim")
    return 1 if any(one.state == "failed" for one in findings) else 0
