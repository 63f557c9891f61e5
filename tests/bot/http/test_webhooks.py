"""Webhooks over real HTTP: what is believed, what is refused, and how many builds come of it."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import Any

import pytest

from bot.http.webhooks import Webhooks
from rag.answer_log import BuildRecord
from tests.bot.http.conftest import SECRET, World, github, gitlab, sign


async def quiet(world: World) -> None:
    """Waits until nothing is being built or will be."""
    async with asyncio.timeout(20):
        while any(world.pushes.pending(name) for name in ("shop", "docs", "path")):  # noqa: ASYNC110 - what is waited for is outside of any event
            await asyncio.sleep(0.01)


async def last(world: World, name: str) -> BuildRecord | None:
    await quiet(world)
    return await world.log.last_build(name)


async def test_a_push_is_built_and_the_log_says_why(world: World) -> None:
    assert await world.sender.github(github()) == (202, {"result": "queued", "repositories": ["shop"]})
    record = await last(world, "shop")
    assert record is not None
    assert (record.ok, record.cause) == (True, "push")
    assert world.workshop.built == ["shop"]


async def test_a_push_of_gitlab_is_built(world: World) -> None:
    assert await world.sender.gitlab(gitlab()) == (202, {"result": "queued", "repositories": ["docs"]})
    record = await last(world, "docs")
    assert record is not None
    assert record.cause == "push"


async def test_a_repository_that_is_read_from_a_path_is_known_by_its_pages(world: World) -> None:
    said = await world.sender.github(github(url="https://git.example.org/team/tools"))
    assert said == (202, {"result": "queued", "repositories": ["path"]})


async def test_a_ping_is_answered_and_builds_nothing(world: World) -> None:
    assert await world.sender.github({"zen": "…", "hook_id": 1}, event="ping") == (200, {"result": "pong"})
    await quiet(world)
    assert world.workshop.built == []


async def test_fifty_deliveries_at_once_are_two_builds(world: World) -> None:
    world.workshop.seconds = 0.5
    answers = await asyncio.gather(*(world.sender.github(github()) for _ in range(50)))
    assert {status for status, _ in answers} == {202}
    await quiet(world)
    assert world.workshop.built == ["shop", "shop"]
    assert world.workshop.most_at_work == 1


async def test_every_bit_of_the_signature_counts(world: World) -> None:
    body = json.dumps(github()).encode()
    right = sign(body)
    scheme, digits = right[:7], bytes.fromhex(right[7:])
    forged = []
    for bit in range(0, 256, 5):
        flipped = bytearray(digits)
        flipped[bit // 8] ^= 1 << bit % 8
        forged.append(scheme + flipped.hex())
    forged += [right[:-1], right + "0", right.upper(), right[7:], "sha1=" + right[7:], "sha256=", "sha256=é", sign(body, "another secret")]
    for signature in forged:
        status, said = await world.sender.github(body, signature=signature)
        assert (status, said) == (401, {"error": "X-Hub-Signature-256 does not fit: the secrets differ."}), signature
    assert (await world.sender.github(body, signature=""))[0] == 401
    assert (await world.sender.github(bytes([body[0] ^ 1]) + body[1:], signature=right))[0] == 401
    assert (await world.sender.github(body + b" ", signature=right))[0] == 401
    await quiet(world)
    assert world.workshop.built == []
    assert (await world.sender.github(body, signature=right))[0] == 202


@pytest.mark.parametrize("token", ["", "wrong", SECRET[:-1], SECRET + "x", SECRET.upper(), "é"])
async def test_a_wrong_token_of_gitlab_is_refused(world: World, token: str) -> None:
    assert await world.sender.gitlab(gitlab(), token=token) == (401, {"error": "X-Gitlab-Token is not the secret."})
    await quiet(world)
    assert world.workshop.built == []


async def test_a_replay_is_refused_under_its_own_id_and_under_another(world: World) -> None:
    body = json.dumps(github()).encode()
    delivery = str(uuid.uuid4())
    assert (await world.sender.github(body, delivery=delivery))[0] == 202
    taken = (409, {"error": "This delivery was taken before."})
    assert await world.sender.github(body, delivery=delivery) == taken
    assert await world.sender.github(body, delivery=delivery.upper()) == taken
    assert await world.sender.github(body) == taken  # GitHub does not sign the id
    assert await world.sender.github(github(), delivery=delivery) == taken
    uuid_of_gitlab = str(uuid.uuid4())
    assert (await world.sender.gitlab(gitlab(), delivery=uuid_of_gitlab))[0] == 202
    assert await world.sender.gitlab(gitlab(), delivery=uuid_of_gitlab) == taken
    assert (await world.sender.gitlab(gitlab()))[0] == 202  # GitLab signs nothing: the same body under another id is another push
    await quiet(world)
    assert world.workshop.built.count("shop") == 1


async def test_of_fifty_replays_at_once_one_is_taken(world: World) -> None:
    body, delivery = json.dumps(github()).encode(), str(uuid.uuid4())
    answers = await asyncio.gather(*(world.sender.github(body, delivery=delivery) for _ in range(50)))
    assert sorted(status for status, _ in answers) == [202] + [409] * 49


async def test_what_was_taken_is_remembered_by_the_next_process(world: World) -> None:
    body, delivery = json.dumps(github()).encode(), str(uuid.uuid4())
    assert (await world.sender.github(body, delivery=delivery))[0] == 202
    await world.database.close()
    await world.database.start()
    assert (await world.sender.github(body, delivery=delivery))[0] == 409


@pytest.mark.parametrize(
    "payload",
    [
        github("refs/heads/topic"),
        github("refs/tags/v1"),
        github("refs/tags/main"),
        github("main"),
        github(deleted=True),
        github("refs/heads/main/x"),
    ],
)
async def test_a_push_of_another_branch_builds_nothing(world: World, payload: dict[str, Any]) -> None:
    assert await world.sender.github(payload) == (200, {"result": "ignored", "why": "It changes no branch that is read."})
    await quiet(world)
    assert world.workshop.built == []


async def test_gitlab_tells_of_other_branches_of_deleted_ones_and_of_other_events(world: World) -> None:
    assert (await world.sender.gitlab(gitlab("refs/heads/main")))[0] == 200
    assert (await world.sender.gitlab(gitlab(after="0" * 40)))[0] == 200
    for event in ("Tag Push Hook", "Merge Request Hook", ""):
        assert await world.sender.gitlab(gitlab(), event=event) == (200, {"result": "ignored", "why": "Only push events are read."})
    assert (await world.sender.github(github(), event="release"))[0] == 200
    await quiet(world)
    assert world.workshop.built == []


@pytest.mark.parametrize(
    "url", ["https://github.com/example/other", "https://github.example.org/example/shop", "https://github.com/example", "/srv/shop", ""]
)
async def test_an_unknown_repository_is_refused_and_may_come_again_once_it_is_configured(world: World, url: str) -> None:
    assert await world.sender.github(github(url=url)) == (404, {"error": "No configured repository has this source."})


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{}", b"\xff", b'{"ref": 5, "repository": {}}', b'{"ref": "refs/heads/main"}', b"[" * 50_000]
)
async def test_a_body_that_is_no_push_gets_clear_words(world: World, body: bytes) -> None:
    assert await world.sender.github(body) == (400, {"error": "The body is no push event."})


@pytest.mark.parametrize("delivery", ["", "1", "../../etc", "a" * 101, "1234567;drop"])
async def test_a_delivery_without_an_id_is_refused(world: World, delivery: str) -> None:
    assert await world.sender.github(github(), delivery=delivery) == (400, {"error": "X-GitHub-Delivery is missing or is no id."})


async def test_a_form_and_a_compressed_body_are_refused(world: World) -> None:
    for headers in ({"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Encoding": "gzip"}):
        status, said = await world.sender.github(b"payload=%7B%7D", **headers)
        assert (status, said) == (415, {"error": "The content type must be application/json, uncompressed."})


async def test_a_large_body_is_refused_with_and_without_a_length(world: World) -> None:
    body = b" " * 100_001
    too_large = (413, {"error": "The body is larger than 100000 bytes."})
    assert await world.sender.github(body) == too_large

    async def pieces() -> Any:
        for _ in range(11):
            yield b" " * 10_000

    headers = {"X-Hub-Signature-256": "sha256=0", "Content-Type": "application/json"}
    async with world.sender.session.post(world.server.url + "/webhooks/github", data=pieces(), headers=headers) as response:
        assert (response.status, await response.json()) == too_large


async def test_a_body_that_does_not_come_is_not_waited_for(world: World) -> None:
    host, port = world.server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=0\r\n"
    writer.write(f"{head}Content-Length: 500\r\n\r\n{{".encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"did not come in time" in answer


async def test_a_broken_chunk_is_a_fault_of_the_sender(world: World) -> None:
    host, port = world.server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=0\r\n"
    writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhel".encode())
    await asyncio.sleep(0.05)
    writer.write(b"lo\r\nzz\r\n")
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 408 "))  # by whether aiohttp's parser says so
    assert b"Traceback" not in answer


async def test_the_database_fails_and_nothing_of_it_is_told(world: World) -> None:
    await world.database.write(lambda db: db.conn.execute("DROP TABLE webhook_deliveries") and None)
    assert await world.sender.github(github()) == (503, {"error": "It could not be recorded. Send it again later."})
    await quiet(world)
    assert world.workshop.built == []


async def test_an_error_of_ours_gets_out_as_fixed_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"inside: {SECRET}")

    monkeypatch.setattr(world.pushes, "pushed", broken)
    assert await world.sender.github(github()) == (500, {"error": "Footnote failed; its log says why."})


async def test_refusals_are_logged_once_a_minute_and_without_the_secret(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        for _ in range(20):
            await world.sender.github(github(), signature="sha256=00")
            await world.sender.gitlab(gitlab(), token="guess-guess-guess")
    lines = [record.getMessage() for record in caplog.records if record.name == Webhooks.__module__]
    assert len(lines) == 1
    assert SECRET not in caplog.text
    assert "guess" not in caplog.text


async def test_pushes_before_a_crash_are_known_afterwards(world: World) -> None:
    from bot.http.deliveries import Deliveries
    from tests.scheduler.conftest import NOW, Clock

    assert (await world.sender.github(github()))[0] == 202
    deliveries = Deliveries(world.database, Clock())
    assert await deliveries.newest() == {"shop": NOW}
    assert await deliveries.purge(NOW) == 0
    later = Clock()
    later.advance(days=1)
    assert await deliveries.purge(later.now) == 1
    assert await deliveries.newest() == {"shop": NOW}
