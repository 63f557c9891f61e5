from __future__ import annotations

import logging
import sqlite3
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlite_utils

from rag.answering.pipeline import Question, new_answer_id
from rag.errors import FootnoteError, NotIndexed
from rag.types import Answer, AnswerPiece, Filters, Turn
from tests.answering.conftest import Parts
from tests.answering.fake_groq import Fault, Reply

TEXT = "How does a parcel get into the first free locker?"


async def ask(parts: Parts, question: Question) -> tuple[list[AnswerPiece], Answer]:
    items = [item async for item in parts.pipeline.ask(question)]
    answer = items[-1]
    assert isinstance(answer, Answer)
    return [item for item in items if isinstance(item, AnswerPiece)], answer


def about(parts: Parts, **more: object) -> Question:
    question = Question(TEXT, parts.repository, "cli")
    return replace(question, **more)  # type: ignore[arg-type]


async def test_from_a_question_to_a_logged_answer_with_footnotes(parts: Parts) -> None:
    _, answer = await ask(parts, about(parts, asker="U1", channel="C1", thread="1.2"))
    assert not answer.abstained
    assert answer.citations[0].path == "larder/lockers.py"
    assert answer.citations[0].permalink.startswith("https://github.com/example/larder/blob/")
    assert "Puts a parcel into the first free locker." in answer.text
    logged = await parts.log.get(answer.id)
    assert logged is not None
    assert (logged.state, logged.text, logged.citations) == ("answered", answer.text, answer.citations)
    assert (logged.question, logged.origin, logged.asker, logged.channel, logged.thread) == (TEXT, "cli", "U1", "C1", "1.2")
    assert {citation.chunk_id for citation in logged.citations} <= {result.chunk.id for result in logged.results}
    assert {"open", "generate", "total"} < set(logged.seconds)
    assert logged.seconds["total"] >= logged.seconds["generate"]


async def test_the_row_stands_before_the_first_piece(parts: Parts) -> None:
    async with aclosing(parts.pipeline.ask(about(parts, answer_id="mine"))) as stream:
        assert isinstance(await anext(stream), AnswerPiece)
        logged = await parts.log.get("mine")
        assert logged is not None
        assert logged.state == "asked"
    # Not read to its end: still open, and asked again under the same id it is completed.
    logged = await parts.log.get("mine")
    assert logged is not None
    assert logged.state == "asked"
    _, answer = await ask(parts, about(parts, answer_id="mine"))
    assert answer.id == "mine"


async def test_what_the_caller_finishes_is_in_the_same_transaction(parts: Parts) -> None:
    await parts.database.write(lambda db: db["inbox_here"].create({"answer": str}))

    def finish(db: sqlite_utils.Database, answer: Answer) -> None:
        db["inbox_here"].insert({"answer": answer.id})

    items = [item async for item in parts.pipeline.ask(about(parts), finish)]
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert await parts.database.read(lambda db: list(db["inbox_here"].rows)) == [{"answer": answer.id}]


async def test_a_caller_that_cannot_finish_leaves_no_answer_in_the_log(parts: Parts) -> None:
    def finish(db: sqlite_utils.Database, answer: Answer) -> None:
        raise ValueError("no")

    with pytest.raises(FootnoteError) as caught:
        async for _ in parts.pipeline.ask(about(parts, answer_id="mine"), finish):
            pass
    logged = await parts.log.get("mine")
    assert logged is not None
    assert (logged.state, logged.text, logged.error_kind) == ("failed", "", "ValueError")
    assert caught.value.reference == logged.reference == "mine"


async def test_an_unindexed_repository_is_a_logged_error_with_its_reference(parts: Parts) -> None:
    question = about(parts, repository=replace(parts.repository, name="nowhere"))
    with pytest.raises(NotIndexed) as caught:
        await ask(parts, question)
    logged = await parts.log.get(caught.value.reference)
    assert logged is not None
    assert (logged.state, logged.error_kind) == ("failed", "NotIndexed")


async def test_an_index_that_fails_is_never_told_as_nothing_found(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise sqlite3.OperationalError("disk I/O error gsk_canary")

    monkeypatch.setattr("rag.index.sparse.SparseIndex.scores", broken)
    with pytest.raises(FootnoteError) as caught:
        await ask(parts, about(parts))
    assert "canary" not in str(caught.value)
    logged = await parts.log.get(caught.value.reference)
    assert logged is not None
    assert logged.state == "failed"


async def test_an_empty_question_is_refused_before_anything_is_written(parts: Parts) -> None:
    with pytest.raises(FootnoteError, match="empty"):
        await ask(parts, about(parts, text="  \n"))
    assert await parts.log.recent() == []


async def test_secrets_in_a_question_are_not_logged(parts: Parts) -> None:
    token = "ghp_" + "a1B2" * 9
    _, answer = await ask(parts, about(parts, text=f"Is {token} the locker token?"))
    logged = await parts.log.get(answer.id)
    assert logged is not None
    assert token not in logged.question + logged.text + answer.question


async def test_a_language_model_answers_where_the_repository_allows_it(parts: Parts) -> None:
    parts.groq.script[:] = [Reply("`assign_locker` takes the first free one [1].")]
    repository = replace(parts.repository, generator="groq")
    pieces, answer = await ask(parts, about(parts, repository=repository, history=(Turn("What is a station?", "A row of lockers."),)))
    assert answer.text == "`assign_locker` takes the first free one [1]."
    assert [piece.text for piece in pieces] == [answer.text]
    assert "A row of lockers." in parts.groq.prompts[0]
    logged = await parts.log.get(answer.id)
    assert logged is not None
    assert (logged.generator, logged.prompt_tokens, logged.completion_tokens) == ("groq/llama-3.3-70b-versatile", 100, 10)


async def test_code_stays_here_where_the_repository_does_not_allow_it(parts: Parts) -> None:
    _, answer = await ask(parts, about(parts))
    assert answer.generator == "extractive"
    assert parts.groq.requests == []


async def test_a_failed_language_model_is_told_and_logged(parts: Parts) -> None:
    parts.groq.script[:] = [Fault(401)]
    _, answer = await ask(parts, about(parts, repository=replace(parts.repository, generator="groq")))
    assert answer.generator == "extractive"
    assert "is not available" in answer.notices[-1]
    logged = await parts.log.get(answer.id)
    assert logged is not None
    assert logged.notices == answer.notices


async def test_a_question_about_something_else_is_declined(parts: Parts) -> None:
    _, answer = await ask(parts, about(parts, text="Which mammals hibernate?"))
    assert answer.abstained
    assert "Which mammals hibernate?" in answer.text
    logged = await parts.log.get(answer.id)
    assert logged is not None
    assert logged.abstained


async def test_search_alone_is_filtered_and_not_logged(parts: Parts) -> None:
    found = await parts.pipeline.search("locker", parts.repository, limit=3, filters=Filters(language=("javascript",)), explain=True)
    assert {result.chunk.path for result in found.results} == {"web/notify.js"}
    assert found.seconds["open"] >= 0
    assert await parts.log.recent() == []


async def test_one_line_an_answer_without_its_words(parts: Parts, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="rag.answering"):
        _, answer = await ask(parts, about(parts))
    lines = [record.getMessage() for record in caplog.records if answer.id in record.getMessage()]
    assert len(lines) == 1
    assert "total=" in lines[0]
    assert "citations=" in lines[0]
    assert "locker" not in lines[0].replace("larder", "")


def test_ids_sort_by_time_and_never_meet() -> None:
    start = datetime(2026, 11, 29, 12, tzinfo=UTC)
    ids = [new_answer_id(start + timedelta(milliseconds=step)) for step in range(500)]
    assert ids == sorted(ids)
    assert len({new_answer_id(start) for _ in range(2000)}) == 2000
    assert all(len(one) == 16 and one.isascii() and one.isalnum() for one in ids)
    assert new_answer_id(datetime(2090, 1, 1, tzinfo=UTC)) > ids[-1]
