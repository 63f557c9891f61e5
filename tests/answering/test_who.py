"""Who knows about what: from commits to what Slack would be sent."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from bot.render import answer_message
from rag.answer_log import MIGRATIONS, AnswerLog
from rag.answering.answerer import Answerer
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.pipeline import Pipeline, Question
from rag.answering.who import Known, Person, Touched, best_files, people
from rag.answering.who_answer import CUT, MASKED, NO_HISTORY, NOBODY, who_answer
from rag.database import Database
from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Indexes
from rag.index.history import HISTORY
from rag.index.jobs import BuildJob
from rag.protocols import Embedder
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.source.history.tally import History
from rag.types import Answer, AnswerPiece, Kind, Repository, Retrieval, SearchResult
from tests.answering.material import chunk, result, results, retrieval
from tests.index.fixtures import SAMPLE_FILES, data_directory, git, make_repository

EVE = "<!channel> @here [Eve](https://evil.example/?k=1) <@U123>"
OWNERS = "# who reviews\n* @example/all\n/larder/ @example/lockers lock@example.org <!here>\n/gate/\n"
DAYS = (1_700_000_000, 1_720_000_000)


def history(**changes: object) -> History:
    """src/file1.py: Ana 3 parts, Ben 1; src/file2.py: dependabot alone; src/file3.py: Ben alone."""
    made = History(
        commit="1" * 40,
        reference=DAYS[1],
        cut=False,
        named=True,
        mailmap="",
        paths=("src/file1.py", "src/file2.py", "src/file3.py"),
        authors=("Ana", "Ben", "dependabot bot"),
        changed=np.array([DAYS[1], DAYS[1], 0]),
        changed_by=np.array([0, 2, 1], dtype=np.int32),
        starts=np.array([0, 3, 4, 5]),
        who=np.array([0, 1, 2, 2, 1], dtype=np.int32),
        commits=np.array([5, 1, 9, 9, 1], dtype=np.int32),
        weights=np.array([3.0, 1.0, 50.0, 9.0, 0.0]),
        last=np.array([DAYS[1], DAYS[0], DAYS[1], DAYS[1], 0]),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_knowledge_is_a_share_of_what_people_did_by_the_place_of_the_file() -> None:
    files = [(one, 1.0 / one.rank) for one in results(3)]
    ana, ben = people(files, history())
    assert (ana.name, ben.name) == ("Ana", "Ben")
    assert (ana.knowledge, ben.knowledge) == pytest.approx((0.75, 0.25 + 1 / 3))
    assert [(one.result.chunk.path, one.last, one.commits) for one in ben.touched] == [
        ("src/file3.py", None, 1),
        ("src/file1.py", datetime.fromtimestamp(DAYS[0], UTC).date(), 1),
    ]


def test_whoever_did_next_to_nothing_is_not_named() -> None:
    [only] = people([(results(1)[0], 1.0)], history(weights=np.array([30.0, 1.0, 0.0, 0.0, 0.0])))
    assert only.name == "Ana"


def test_files_without_people_name_nobody() -> None:
    assert people([(results(2)[1], 1.0)], history()) == []
    assert people([(result(1, chunk("elsewhere.py")), 1.0)], history()) == []


def test_the_best_files_are_each_counted_once_and_the_group_that_leads_more() -> None:
    prose = result(3, chunk("docs/a.md", language="markdown", kind=Kind.SECTION))
    found = [result(1, chunk("a.py", 1)), result(2, chunk("a.py", 9)), prose]
    files = best_files(retrieval(found))
    assert [(one.chunk.path, one.chunk.start_line, counts) for one, counts in files] == [("a.py", 1, 1.0), ("docs/a.md", 10, 0.5)]
    assert best_files(retrieval([])) == []
    assert best_files(retrieval([replace(result(1, chunk("a.py")), score=0.0)]))[0][1] == 1.0


def told(known: Known, found: list[SearchResult] | None = None, **changes: object) -> tuple[list[AnswerPiece], Retrieval, Answer]:
    return who_answer("who knows about routes?", replace(retrieval(found), **changes), known, answer_id="a", seconds={})  # type: ignore[arg-type]


def test_the_words_name_people_files_and_days() -> None:
    one, two = results(2)
    known = Known((Person("Ana", 1.0, (Touched(one, date(2026, 10, 2), 1), Touched(two, None, 1_200))),), (), "", cut=True)
    pieces, _, answer = told(known)
    assert answer.text.endswith(
        "- **Ana** last changed `src/file1.py` on 2026-10-02 (1 commit) [1] and `src/file2.py` (1,200 commits) [2]."
    )
    assert "".join(piece.text for piece in pieces).strip() == answer.text
    assert [(cited.number, cited.path, cited.start_line) for cited in answer.citations] == [
        (1, "src/file1.py", 10),
        (2, "src/file2.py", 20),
    ]
    assert (answer.abstained, answer.generator, answer.notices) == (False, "history", (CUT,))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (Known((), (), "masked"), MASKED),
        (Known((), (), "none"), NO_HISTORY),
        (Known((), (), ""), NOBODY),
        (Known((), (), "", cut=True), CUT),
    ],
    ids=str,
)
def test_where_nobody_is_known_it_says_why(known: Known, words: str) -> None:
    pieces, _, answer = told(known)
    assert (pieces, answer.abstained, answer.citations) == ([], True, ())
    assert words in answer.text


def test_a_question_about_something_else_names_nobody() -> None:
    known = Known((Person("Ana", 1.0, (Touched(results(1)[0], None, 1),)),), (), "")
    for pieces, _, answer in (told(known, confidence=0.0), told(Known((), (), ""), [])):
        assert (pieces, answer.abstained, answer.citations) == ([], True, ())
        assert "Nothing in this repository answers that" in answer.text
        assert "Ana" not in answer.text


def test_names_and_paths_cannot_act() -> None:
    bad = result(1, chunk("src/<!channel>`@here`.py\n"))
    pieces, _, answer = told(Known((Person("@here evil.example *x*", 1.0, (Touched(bad, None, 1),)),), (), ""), [bad])
    assert pieces
    assert not re.search(r"@(?:here|channel)|<!", answer.text)
    assert "`evil.example`" in answer.text  # no reader makes a link of code


@pytest.fixture(scope="module")
def depot(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Indexes, Repository, Path]]:
    """Ada made it; Ben has worked on expiry since, as have a program and somebody of a hostile name."""
    place = tmp_path_factory.mktemp("depot")
    source = make_repository(place / "source", {**SAMPLE_FILES, ".github/CODEOWNERS": OWNERS})
    for number, (name, path) in enumerate(
        [("Ben", "larder/expiry.py")] * 2
        + [("dependabot[bot]", "larder/expiry.py"), (EVE, "gate/retry.go"), ("dependabot[bot]", "settings.toml")]
    ):
        with (source / path).open("a", encoding="utf-8") as file:
            file.write(f"\n{'//' if path.endswith('go') else '#'} {number}\n")
        day = f"2026-0{number + 2}-01T00:00:00Z"
        who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": "secret@example.net", "GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
        who |= {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": "secret@example.net", "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", "-C", str(source), "commit", "-qam", "m"], check=True, env={**os.environ, **who}, timeout=60)
    data = data_directory(place / "data", models_directory)
    repository = Repository("larder", str(source), web="https://github.com/example/larder", audience=("*",))
    build(BuildJob(repository=repository, data_dir=data, threads=1), lambda event: None)
    indexes = Indexes(data, default_backend(), describe(EmbeddingSettings()))
    yield source, indexes, repository, data
    indexes.close()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as opened:
        yield opened


async def ask(
    database: Database, indexes: Indexes, embedder: Embedder, repository: Repository, text: str
) -> tuple[list[AnswerPiece], Answer]:
    def never(_: Repository) -> ExtractiveGenerator:
        raise AssertionError("a generator was asked")

    log = AnswerLog(database)
    pipeline = Pipeline(indexes, Retriever(embedder, RetrievalSettings()), Answerer(never), log, database)
    items = [item async for item in pipeline.ask(Question(text, repository, "slack"))]
    answer = items[-1]
    assert isinstance(answer, Answer)
    logged = await log.get(answer.id)
    assert logged is not None
    assert (logged.text, logged.citations, logged.state) == (answer.text, answer.citations, "answered")
    assert {cited.chunk_id for cited in answer.citations} <= {found.chunk.id for found in logged.results}
    assert await log.sample(1.0, datetime(2020, 1, 1, tzinfo=UTC), "judge") == []  # nobody's name goes to a judge
    return [item for item in items if isinstance(item, AnswerPiece)], answer


async def test_from_commits_to_an_answer_with_owners_and_footnotes(
    database: Database, depot: tuple[Path, Indexes, Repository, Path], embedder: Embedder
) -> None:
    source, indexes, repository, _ = depot
    pieces, answer = await ask(database, indexes, embedder, repository, "Who knows about expired parcels?")
    assert not answer.abstained
    assert "".join(piece.text for piece in pieces).strip() == answer.text
    assert "- `.github/CODEOWNERS` names **example/lockers** and **lock** for `larder/expiry.py`" in answer.text
    assert "- **Ben** last changed `larder/expiry.py` on 2026-03-01 (2 commits)" in answer.text
    assert "dependabot" not in answer.text
    line = next(cited for cited in answer.citations if cited.path == ".github/CODEOWNERS")
    assert (line.start_line, line.end_line) == (3, 3)
    assert line.permalink == f"https://github.com/example/larder/blob/{git(source, 'rev-parse', 'HEAD')}/.github/CODEOWNERS#L3"
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)}
    assert numbers == {cited.number for cited in answer.citations}


async def test_no_name_pings_links_or_holds_an_address_in_what_slack_is_sent(
    database: Database, depot: tuple[Path, Indexes, Repository, Path], embedder: Embedder
) -> None:
    _, indexes, repository, _ = depot
    _, answer = await ask(database, indexes, embedder, repository, "who wrote the retry with backoff of the gate? path:gate")
    assert "Eve" in answer.text
    sent = json.dumps(answer_message(answer, datetime.now(UTC)).to_json())
    for shape in (r"<[!@#]", r"@here", r"@channel", r"evil\.example(?!`)", "secret", r"\]\(", "U123>"):
        assert not re.search(shape, sent), shape
    assert "from the history, no model wrote this" in sent


async def test_masked_names_are_told_nowhere(database: Database, depot: tuple[Path, Indexes, Repository, Path], embedder: Embedder) -> None:
    _, _, repository, data = depot
    masked = Indexes(data, default_backend(), describe(EmbeddingSettings()), named=False)
    try:
        pieces, answer = await ask(database, masked, embedder, repository, "who knows about expired parcels?")
        assert (pieces, answer.text, answer.abstained) == ([], MASKED, True)
        _, code = await ask_code(database, masked, embedder, repository)
        assert code.citations
    finally:
        masked.close()


async def ask_code(database: Database, indexes: Indexes, embedder: Embedder, repository: Repository) -> tuple[list[AnswerPiece], Answer]:
    """A question that begins with "who" and asks for code goes the usual way."""
    log = AnswerLog(database)
    answerer = Answerer(lambda _: ExtractiveGenerator())
    pipeline = Pipeline(indexes, Retriever(embedder, RetrievalSettings()), answerer, log, database)
    items = [item async for item in pipeline.ask(Question("who puts a parcel into a free locker?", repository, "cli"))]
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert answer.generator == "extractive"
    return [], answer


async def test_without_a_history_owners_are_named_all_the_same(
    database: Database, depot: tuple[Path, Indexes, Repository, Path], embedder: Embedder
) -> None:
    _, indexes, repository, data = depot
    (stored,) = data.rglob(HISTORY)
    stored.rename(stored.with_suffix(".away"))
    try:
        _, answer = await ask(database, indexes, embedder, repository, "whom do I ask about expired parcels?")
        assert answer.text.startswith(NO_HISTORY)
        assert "**example/lockers**" in answer.text
        _, free = await ask(database, indexes, embedder, repository, "whom do I ask about the retry of the gate? path:gate")
        assert (free.text, free.abstained) == (NO_HISTORY, True)
    finally:
        stored.with_suffix(".away").rename(stored)
