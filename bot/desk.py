"""One accepted question -> exactly one answer or one clear message in its thread."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta

import sqlite_utils

from bot import words
from bot.access import Doorkeeper, Place, allowed
from bot.channels import Channels
from bot.conversation import standalone
from bot.delivery import Delivery
from bot.inbox import Inbox, InboxRow
from bot.incoming import QuestionKey
from bot.render import Message, answer_message, escape, notice_message
from bot.reply import AppendBudget, Reply
from bot.routing import NoChoice, choose
from bot.services import BotServices, Identity
from bot.web import TOKEN_ERRORS, SlackError, SlackRefused, SlackWeb
from rag.answering.pipeline import Question
from rag.errors import DatabaseError
from rag.types import Answer, AnswerPiece, Repository

log = logging.getLogger(__name__)

_UNDELIVERABLE_AFTER = timedelta(hours=24)


class Desk:
    """Answers accepted questions, a few at once, none twice at once, each person's no more than two at once."""

    def __init__(
        self, services: BotServices, web: SlackWeb, identity: Identity, inbox: Inbox, channels: Channels, doorkeeper: Doorkeeper
    ) -> None:
        self.services = services
        self.web = web
        self.identity = identity
        self.inbox = inbox
        self.channels = channels
        self.doorkeeper = doorkeeper
        settings = services.settings
        self._tasks: dict[QuestionKey, asyncio.Task[None]] = {}
        self._failures: dict[QuestionKey, tuple[int, float]] = {}  # key -> (failures in a row, loop time before which it rests)
        self._everyone = asyncio.Semaphore(settings.at_once)
        self._refusals = asyncio.Semaphore(2)
        self._people: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(settings.at_once_per_user))
        self._budget = AppendBudget(settings.reply.appends_per_minute)
        self._closing = False

    def submit(self, key: QuestionKey) -> None:
        """Begins to answer, in the background. Does nothing for a question that is being answered already."""
        if self._closing or key in self._tasks:
            return
        task = asyncio.create_task(self._work(key), name=f"question {key.channel} {key.ts}")
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def resume(self) -> int:
        """Submits every question that is accepted and unfinished; how many there are."""
        now = asyncio.get_running_loop().time()
        rows = await self.inbox.unfinished()
        for row in rows:
            if self._failures.get(row.key, (0, 0.0))[1] <= now:
                self.submit(row.key)
        return len(rows)

    async def keep_resuming(self) -> None:
        """Until cancelled: what could not be delivered is tried again."""
        while True:
            await asyncio.sleep(self.services.settings.retry_every)
            try:
                await self.resume()
            except DatabaseError as failure:
                log.warning("unfinished questions could not be read: %s", failure.problem)

    async def drain(self, timeout: float) -> int:  # noqa: ASYNC109 - what is not finished by then is cancelled, not an error
        """Takes no more questions, and waits `timeout` seconds for those that are being answered. What is not finished then stays in the
        inbox for the next start; how many that are."""
        self._closing = True
        tasks = list(self._tasks.values())
        if not tasks:
            return 0
        _, pending = await asyncio.wait(tasks, timeout=timeout)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=3.0)
        return len(pending)

    async def _work(self, key: QuestionKey) -> None:
        try:
            row = await self.inbox.get(key)
            if row is None or not row.open:
                return
            async with self._turn(row):
                begun = await self.inbox.begin(key)
                if begun is not None:
                    await self._finish(begun)
            self._failures.pop(key, None)
        except SlackError as failure:
            log.warning("question stays in the inbox: %s", failure.problem)
            self._rest(key)
        except DatabaseError as failure:
            log.error("question stays in the inbox: %s", failure.problem)
            self._rest(key)
        except Exception:
            log.exception("question stays in the inbox")
            self._rest(key)

    @asynccontextmanager
    async def _turn(self, row: InboxRow) -> AsyncIterator[None]:
        """Waits for a place. Refusals have their own, so that a flood of them holds up nobody's answer."""
        if row.refusal:
            async with self._refusals:
                yield
        else:
            person = self._people[row.user]
            async with person, self._everyone:
                yield

    def _rest(self, key: QuestionKey) -> None:
        failures = self._failures.get(key, (0, 0.0))[0] + 1
        pause = min(self.services.settings.retry_every * 2 ** (failures - 1), 300.0)
        self._failures[key] = (failures, asyncio.get_running_loop().time() + pause)

    async def _finish(self, row: InboxRow) -> None:
        """From whatever an earlier attempt left to a message in the thread and a closed row."""
        delivery = Delivery(self.web, self.identity, self.inbox, row)
        known: tuple[str, ...] = row.replies
        try:
            if row.attempts > 1 or row.replies or row.outbox:
                standing = await delivery.standing()
                if standing.complete:
                    await self.inbox.finish(row.key, replies=standing.parts, outcome=row.outcome or "answer")
                    return
                known = tuple(dict.fromkeys((*row.replies, *standing.parts, *standing.orphans)))
            if row.outbox:
                replies, outcome = await delivery.deliver(Message.from_json(row.outbox), known), row.outcome
            else:
                replies, outcome = await self._respond(row, delivery, known)
        except SlackRefused as refusal:
            if refusal.error in TOKEN_ERRORS:
                raise  # it can be posted once the token is mended
            log.error("no message can be posted in %s: %s", row.key.channel, refusal.error)
            await self.inbox.finish(row.key, replies=known, outcome="undeliverable")
            return
        except SlackError:
            if self.services.clock() - row.received_at < _UNDELIVERABLE_AFTER:
                raise
            await self.inbox.finish(row.key, replies=known, outcome="undeliverable")
            return
        await self.inbox.finish(row.key, replies=replies, outcome=outcome)
        log.info("question %s: %s", row.answer_id, outcome)

    async def _respond(self, row: InboxRow, delivery: Delivery, known: Sequence[str]) -> tuple[tuple[str, ...], str]:
        """(ts of our messages, outcome)."""
        if row.refusal:
            return await self._tell(row, delivery, known, words.for_refusal(row.refusal), f"refused: {row.refusal}")
        if row.attempts > self.services.settings.give_up_after:
            return await self._tell(row, delivery, known, words.GAVE_UP, "gave up", reference=row.answer_id)
        place = await self.doorkeeper.place(row.key.channel, row.user, user_team=row.user_team, shared=row.shared)
        open_here = allowed(self.services.repositories(), place)
        if not open_here:
            return await self._tell(row, delivery, known, words.for_place(place), f"denied: {place.problem or 'audience'}")
        pin = await self.inbox.thread_repository(row.key, row.thread)
        binding = await self.channels.repository(row.key.team, row.key.channel)
        choice = choose(row.text, open_here, pin, binding)
        if isinstance(choice, NoChoice):
            if not row.text.strip():
                return await self._tell(row, delivery, known, words.for_empty(list(choice.choices)), "empty")
            return await self._tell(row, delivery, known, words.for_no_choice(choice), "no repository chosen")
        if not choice.question:
            return await self._tell(row, delivery, known, words.for_empty([choice.repository.name]), "empty")
        await self.inbox.choose(row.key, choice.repository.name)
        return await self._answer(row, delivery, known, choice.repository, choice.question)

    async def _answer(
        self, row: InboxRow, delivery: Delivery, known: Sequence[str], repository: Repository, text: str
    ) -> tuple[tuple[str, ...], str]:
        settings = self.services.settings
        notices = (words.TOO_LONG,) if len(text) > settings.question_limit else ()
        prepared: list[Message] = []

        def finish(db: sqlite_utils.Database, answer: Answer) -> None:
            message = answer_message(answer, self.services.clock(), notices)
            prepared.append(message)
            self.inbox.prepare_in(db, row.key, message.to_json(), "answer")

        reply = Reply(self.web, delivery, self._budget, settings.reply, lambda parts: self.inbox.replied(row.key, parts), known)
        try:
            try:
                async with asyncio.timeout(settings.answer_timeout):
                    question = await self._question(row, repository, text[: settings.question_limit])
                    async with aclosing(self.services.pipeline.ask(question, finish)) as items:
                        async for item in items:
                            if isinstance(item, AnswerPiece):
                                reply.write(escape(item.text))
            except Exception as failure:
                if not prepared:
                    return await self._apologise(row, reply, repository, failure)
                log.exception("question %s: a failure after its answer was complete", row.answer_id)
            if not prepared:
                return await self._apologise(row, reply, repository, RuntimeError("no answer came"))
            return await reply.finish(prepared[-1]), "answer"
        finally:
            await reply.close()

    async def _question(self, row: InboxRow, repository: Repository, text: str) -> Question:
        turns = await self.services.log.turns(
            team=row.key.team, channel=row.key.channel, thread=row.thread, repository=repository.name, limit=self.services.settings.history
        )
        return Question(
            text=standalone(text, turns),
            repository=repository,
            origin="slack",
            asker=row.user,
            team=row.key.team,
            channel=row.key.channel,
            thread=row.thread,
            history=tuple(turns),
            answer_id=row.answer_id,
        )

    async def _apologise(self, row: InboxRow, reply: Reply, repository: Repository, failure: Exception) -> tuple[tuple[str, ...], str]:
        """Fixed words for what went wrong, under whatever had been written; the log has the rest, under the reference."""
        kind = type(failure).__name__
        log.error("question %s failed: %s", row.answer_id, kind, exc_info=failure)
        building = False
        with suppress(Exception):  # whatever the status is, the failure must be told
            building = bool((await self.services.status(repository.name)).building)
        text = words.for_error(failure, repository.name, building=building)
        message = notice_message(text, row.answer_id)
        if reply.sent.strip():
            message = Message(f"{reply.sent.rstrip()}\n\n{text}", message.tail, message.summary)
        try:
            await self.services.log.fail(row.answer_id, kind, row.answer_id)
            await self.inbox.prepare(row.key, message.to_json(), kind)
        except DatabaseError as unwritten:
            log.error("question %s: the failure could not be stored: %s", row.answer_id, unwritten.problem)
        return await reply.finish(message), kind

    async def _tell(
        self, row: InboxRow, delivery: Delivery, known: Sequence[str], text: str, outcome: str, reference: str = ""
    ) -> tuple[tuple[str, ...], str]:
        message = notice_message(text, reference)
        await self.inbox.prepare(row.key, message.to_json(), outcome)
        return await delivery.deliver(message, known), outcome

    async def allowed_here(self, channel: str, user: str, user_team: str = "") -> tuple[list[Repository], Place]:
        """What this person may hear about in this channel, by name."""
        place = await self.doorkeeper.place(channel, user, user_team=user_team)
        return sorted(allowed(self.services.repositories(), place), key=lambda repository: repository.name), place
