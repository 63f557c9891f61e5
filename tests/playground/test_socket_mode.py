"""Envelopes, acknowledgements, retries, connections: against a bare WebSocket, which does what a test tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from playground import Playground
from tests.playground.echo_bot import echo_bot


@asynccontextmanager
async def socket(playground: Playground) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """An app's connection, past its hello."""
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {playground.app_token}"}
        async with session.post(f"{playground.api_url}apps.connections.open", headers=headers) as response:
            url = (await response.json())["url"]
        async with session.ws_connect(url) as connection:
            assert (await receive(connection))["type"] == "hello"
            yield connection


async def receive(connection: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    message: dict[str, Any] = await connection.receive_json(timeout=5)
    return message


async def test_hello_counts_connections_and_a_ticket_opens_one(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        url = playground.sockets.open()
        async with session.ws_connect(url) as first:
            hello = await receive(first)
            assert (hello["type"], hello["num_connections"]) == ("hello", 1)
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(url)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{playground.url.replace('http', 'ws')}/link/?ticket=guessed")


async def test_at_most_ten_connections(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        connections = [await session.ws_connect(playground.sockets.open()) for _ in range(10)]
        await playground.wait_connected(10)
        headers = {"Authorization": f"Bearer {playground.app_token}"}
        async with session.post(f"{playground.api_url}apps.connections.open", headers=headers) as response:
            assert (await response.json())["error"] == "too_many_websockets"
        for connection in connections:
            await connection.close()


async def test_an_event_is_sent_once_when_it_is_acknowledged(playground: Playground) -> None:
    async with socket(playground) as connection:
        await playground.say("maya", "@footnote", "hello")
        envelope = await receive(connection)
        assert envelope["type"] == "events_api"
        assert (envelope["retry_attempt"], envelope["retry_reason"], envelope["accepts_response_payload"]) == (0, "", False)
        await connection.send_json({"envelope_id": envelope["envelope_id"]})
        await playground.wait_settled()
        assert [(delivery.acknowledged, delivery.attempts) for delivery in playground.deliveries] == [(True, 1)]


async def test_an_event_that_is_not_acknowledged_comes_three_times_more(playground: Playground) -> None:
    playground.sockets.ack_seconds = 0.05
    async with socket(playground) as connection:
        await playground.say("maya", "@footnote", "hello")
        envelopes = [await receive(connection) for _ in range(4)]
        assert [envelope["retry_attempt"] for envelope in envelopes] == [0, 1, 2, 3]
        assert [envelope["retry_reason"] for envelope in envelopes] == ["", "timeout", "timeout", "timeout"]
        assert len({envelope["envelope_id"] for envelope in envelopes}) == 4
        assert len({envelope["payload"]["event_id"] for envelope in envelopes}) == 1
        await playground.wait_settled()
        assert playground.deliveries[0].given_up


async def test_a_lost_acknowledgement_makes_slack_send_again(playground: Playground) -> None:
    playground.sockets.ack_seconds = 0.2
    playground.faults.lose_acks()
    async with echo_bot(playground) as heard:
        await playground.say("maya", "@footnote", "hello")
        await playground.wait_for(lambda: len(heard) == 2)
        await playground.wait_settled()
    assert heard[0]["event_id"] == heard[1]["event_id"]
    assert (playground.deliveries[0].attempts, playground.deliveries[0].acknowledged) == (2, True)


@pytest.mark.parametrize("fresh", [True, False])
async def test_an_event_may_arrive_twice(playground: Playground, fresh: bool) -> None:
    playground.faults.duplicate_events("message", fresh_id=fresh)
    async with echo_bot(playground) as heard:
        ts = await playground.say("maya", "@footnote", "hello")
        await playground.say("maya", "@footnote", "again")
        await playground.wait_settled()
    twice = [body["event_id"] for body in heard if body["event"]["ts"] == ts]
    assert len(twice) == 2
    assert len(set(twice)) == (2 if fresh else 1)
    assert len(heard) == 3


async def test_an_event_waits_for_the_app_to_connect(playground: Playground) -> None:
    ts = await playground.say("maya", "@footnote", "hello")
    async with echo_bot(playground) as heard:
        await playground.wait_for(lambda: [body for body in heard if body["event"]["ts"] == ts])


async def test_without_an_app_a_command_fails_and_the_person_is_told(playground: Playground) -> None:
    playground.sockets.ack_seconds = 0.05
    delivery = await playground.command("maya", "general", "/repo", "list")
    assert (delivery.given_up, delivery.attempts) == (True, 1)
    notice = playground.messages("general", seen_by="maya")[0]
    assert "dispatch_failed" in notice.text
    assert playground.messages("general", seen_by="tomas") == []


async def test_connections_take_turns(playground: Playground) -> None:
    async with socket(playground) as first, socket(playground) as second:
        for text in "abcd":
            await playground.say("maya", "@footnote", text)
        for connection in (first, second):
            got = [await receive(connection) for _ in range(2)]
            for envelope in got:
                await connection.send_json({"envelope_id": envelope["envelope_id"]})
        await playground.wait_settled()
        assert [connection.received for connection in playground.sockets.connections] == [2, 2]


async def test_a_silent_connection_looks_open_and_hears_nothing(playground: Playground) -> None:
    playground.sockets.ack_seconds = 0.1
    async with socket(playground) as dead:
        playground.sockets.silence()
        async with socket(playground) as alive:
            await playground.say("maya", "@footnote", "one")
            await playground.say("maya", "@footnote", "two")
            for _ in range(2):
                envelope = await receive(alive)
                await alive.send_json({"envelope_id": envelope["envelope_id"]})
            await playground.wait_settled()
        await dead.ping(b"are you there")
        with pytest.raises(TimeoutError):
            await dead.receive(timeout=0.2)
    attempts = [delivery.attempts for delivery in playground.deliveries]
    assert min(attempts) == 1 < max(attempts)
    assert all(delivery.acknowledged for delivery in playground.deliveries)


async def test_a_disconnect_is_announced_and_a_new_connection_takes_over(playground: Playground) -> None:
    async with socket(playground) as old:
        await playground.sockets.disconnect("refresh_requested")
        assert (await receive(old)) == {"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "playground"}}
        async with socket(playground) as new:
            await playground.say("maya", "@footnote", "hello")
            envelope = await receive(new)
            await new.send_json({"envelope_id": envelope["envelope_id"]})
            await playground.wait_settled()


async def test_bolt_comes_back_after_its_connection_is_closed(playground: Playground) -> None:
    async with echo_bot(playground) as heard:
        await playground.sockets.close()
        ts = await playground.say("maya", "@footnote", "still there?")
        await playground.wait_for(lambda: [body for body in heard if body["event"]["ts"] == ts], timeout=15)


async def test_rubbish_from_the_app_does_no_harm(playground: Playground) -> None:
    async with socket(playground) as connection:
        for rubbish in ("not json", "[1]", '{"envelope_id": "unknown"}', "null"):
            await connection.send_str(rubbish)
        await playground.say("maya", "@footnote", "hello")
        assert (await receive(connection))["type"] == "events_api"
