"""`footnote index` and `footnote search`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
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
    stderr,
    stdout,
    visible,
)

STAGES = {
    "waiting": "waiting for its turn",
    "clone": "cloning",
    "read": "reading files",
    "chunk": "cutting chunks",
    "sparse": "sparse index",
    "embed": "embedding",
    "dense": "dense index",
    "history": "reading history",
    "publish": "publishing",
}


_TWINS = 3  # of a result that are named
HEADINGS = {"code": "Code", "prose": "Documentation"}


class Wanted(StrEnum):
    ALL = "all"
    CODE = "code"
    PROSE = "prose"


def register(app: typer.Typer) -> None:
    app.command("index", no_args_is_help=True)(index)
    app.command("search", no_args_is_help=True)(search)


@command
async def index(
    source: Annotated[
        str, typer.Argument(help="A path, a git URL (https or ssh), or the name of a configured repository.", show_default=False)
    ] = "",
    name: Annotated[str, typer.Option("--name", "-n", help="How to call it. Default: the last part of SOURCE.")] = "",
    branch: Annotated[str, typer.Option("--branch", "-b", help="Which branch to read. Default: the repository's own.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Build anew even if nothing has changed.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Build nothing: list every file at the indexed commit and why it is or is not in the index.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Build nothing: show how the chunks are distributed, by language.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Index a repository, or bring its index up to date.

    It can be asked as soon as its sparse part stands, long before the command returns; only what changed is embedded anew.

    Example: footnote index https://github.com/pallets/flask
    """
    from bot.engine import run

    if explain + stats + force > 1:
        raise typer.BadParameter("--explain, --stats and --force do not go together")
    if not source and not (explain or stats):
        raise typer.BadParameter("what to index is missing: a path, a URL or a name", param_hint="SOURCE")
    settings = settings_of(config)
    where = absolute(source) if source else ""
    if explain or stats:
        from bot.cli import explaining

        await (explaining.explain if explain else explaining.stats)(settings, where, name, branch, as_json=as_json)
        return
    report: dict[str, Any] = {}
    with Progress() as progress:
        async for message in run(settings, "index", {"source": where, "name": name, "branch": branch, "force": force}):
            if "event" in message:
                progress.show(message["event"])
            else:
                report = message
    for notice in report.get("notices", ()):  # an owner of an older version says nothing of them
        complain(notice)
    if as_json:
        print_json(report)
        return
    seconds = report["seconds"]
    skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(report["skipped"].items(), key=lambda item: -item[1]))
    out = stdout()
    state = "is up to date" if report["unchanged"] else "is indexed"
    out.print(f"[bold]{report['repository']}[/bold] {state} at {report['commit'][:12]} ({report['branch']})", markup=True)
    out.print(f"  {report['documents']} documents, {report['chunks']} chunks; {report['embedded']} embedded, {report['reused']} reused")
    if skipped:
        out.print(f"  skipped: {skipped}", markup=False)
    if report["fallbacks"]:
        out.print("  cut by lines: " + ", ".join(f"{count} {reason}" for reason, count in report["fallbacks"].items()), markup=False)
    out.print("  " + ", ".join(f"{stage} {value:.1f} s" for stage, value in seconds.items()))


def absolute(source: str) -> str:
    """A path in full, for the process that owns the data directory may stand elsewhere; anything else as it is."""
    return str(Path(source).absolute()) if Path(source).exists() else source


class Progress:
    """One bar a stage, on standard error; nothing where that is no terminal but a line when the sparse part stands."""

    def __enter__(self) -> Progress:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._console = stderr()
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._progress.start()
        self._task = self._progress.add_task("starting", total=None)
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def show(self, event: dict[str, Any]) -> None:
        stage = event["stage"]
        if stage == "sparse_ready":
            self._console.print("It can be asked now; its dense part is still being built.", style="green")
            return
        total = event["total"] or None
        self._progress.update(self._task, description=STAGES.get(stage, stage), completed=event["done"] if total else 0, total=total)


@command
async def search(
    question: Annotated[str, typer.Argument(help="What to look for: words, a question, or a symbol.")],
    repo: Repo = "",
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=100, help="How many results.")] = 10,
    min_score: Annotated[float | None, typer.Option("--min-score", min=-1, max=1, help="Leave out what is less similar (cosine).")] = None,
    path: Paths = None,
    language: Languages = None,
    author: Author = None,
    since: Since = "",
    before: Before = "",
    kind: Annotated[Wanted, typer.Option("--kind", help="Code, prose (documentation), or both, the likelier first.")] = Wanted.ALL,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each candidate came to its place.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Find the places of a repository that a question is about.

    Filters may stand in the question, too: path:src/auth lang:go kind:function author:ana since:2024-03, "in the tests" or "changed since
    March 2024".

    Example: footnote search "where is the session cookie signed" --repo flask --path "src/**"
    """
    from bot.engine import result

    settings = settings_of(config)
    name = await only_repository(settings, repo)
    wanted = {"question": question, "repository": name, "limit": limit, "min_score": min_score, "explain": explain}
    wanted["group"] = "" if kind is Wanted.ALL else str(kind)
    wanted |= narrowed(path, language, author, since, before)
    found = await result(settings, "search", wanted)
    for notice in found["notices"]:
        complain(notice)
    if as_json:
        print_json(found["results"])
        if explain:
            complain(f"confidence: {_confidence(found['confidence'])}")
            for line in found["explanation"]:
                complain(line)
        return
    out = stdout()
    if not found["results"]:
        complain(f"Nothing found in {name}.")
    groups = dict.fromkeys(row["group"] for row in found["results"])
    for row, before in zip(found["results"], ["", *(row["group"] for row in found["results"])], strict=False):
        if len(groups) > 1 and row["group"] != before:
            out.print(HEADINGS[row["group"]], style="bold", markup=False)
        place = visible(f"{row['path']}:{row['start_line']}-{row['end_line']}")
        out.print(f"[bold]{row['rank']:>2}[/bold] ", end="")
        out.print(f"{place}  {visible(row['symbol'])}", markup=False, style="cyan", end="")
        out.print(f"  {row['kind']}  {_scores(row['scores'])}", markup=False, style="dim")
        for line in row["text"].splitlines()[:3]:
            out.print(f"     {visible(line)}", markup=False, style="dim", no_wrap=True, overflow="ellipsis", soft_wrap=False)
        if row["twins"]:
            out.print(f"     also in {twin_places(row['twins'])}", markup=False, style="dim")
    if explain:
        out.print(f"confidence that this repository is asked about: {_confidence(found['confidence'])}", markup=False)
    for line in found["explanation"]:
        out.print(visible(line), markup=False)


def _confidence(value: float | None) -> str:
    return "unknown, it was searched by words alone" if value is None else f"{value:.2f}"


def twin_places(twins: list[dict[str, Any]]) -> str:
    """The first twins by name, the others by number."""
    named = ", ".join(visible(f"{twin['path']}:{twin['start_line']}-{twin['end_line']}") for twin in twins[:_TWINS])
    return named + (f" and {len(twins) - _TWINS} more" if len(twins) > _TWINS else "")


def _scores(scores: dict[str, float]) -> str:
    shown = {"rerank": "{:.2f}", "ranked": "{:.2f}", "fused": "{:.2f}", "sparse": "{:.2f}", "similarity": "{:.3f}"}
    return "  ".join(f"{stage} {form.format(scores[stage])}" for stage, form in shown.items() if stage in scores)
