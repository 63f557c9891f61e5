"""What `footnote doctor` says of a Qdrant server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.configuration import load_settings
from bot.doctor import CHECKS, Finding
from rag.errors import FootnoteError
from tests.index.fake_qdrant import FakeQdrant, Fault, fake_qdrant

KEY = "canary-key-canary-key"


@pytest.fixture
def fake() -> Iterator[FakeQdrant]:
    with fake_qdrant(api_key=KEY) as made:
        yield made


async def finding(data_dir: Path, **environment: str) -> Finding:
    settings = await asyncio.to_thread(load_settings, None, {"FOOTNOTE_DATA_DIR": str(data_dir), **environment}, data_dir)
    try:
        return await dict(CHECKS)["dense store"](settings)
    except FootnoteError as error:  # as `examine` has it
        return Finding("dense store", "failed", error.problem, error.remedy)


async def test_a_server_that_can_be_written_to_is_named_with_its_version(tmp_path: Path, fake: FakeQdrant) -> None:
    found = await finding(tmp_path, QDRANT_URL=fake.url, QDRANT_API_KEY=KEY)
    assert (found.state, found.detail) == ("ok", f"qdrant-server at {fake.url}, version 1.20.0")
    assert fake.collections() == []
    assert len(fake.asked("PUT", "/points")) == 1


async def test_without_an_address_the_engine_of_this_machine_is_tried(tmp_path: Path) -> None:
    assert (await finding(tmp_path)).detail == "qdrant-edge"


async def test_a_wrong_key_is_told_from_no_key(tmp_path: Path, fake: FakeQdrant) -> None:
    wrong = await finding(tmp_path, QDRANT_URL=fake.url, QDRANT_API_KEY="another-key-another")
    assert "refuses access (401) with QDRANT_API_KEY" in wrong.detail
    assert "Set QDRANT_API_KEY" in wrong.remedy
    assert "QDRANT_API_KEY is not set" in (await finding(tmp_path, QDRANT_URL=fake.url)).detail


async def test_a_key_that_may_only_read_is_not_enough(tmp_path: Path, fake: FakeQdrant) -> None:
    fake.fault = lambda request: Fault(403, b"forbidden") if request.method == "PUT" else None
    found = await finding(tmp_path, QDRANT_URL=fake.url, QDRANT_API_KEY=KEY)
    assert found.state == "failed"
    assert "read and write" in found.remedy


async def test_other_faults_are_named(tmp_path: Path, fake: FakeQdrant) -> None:
    fake.version = "1.9.0"
    assert "too old or too new" in (await finding(tmp_path, QDRANT_URL=fake.url, QDRANT_API_KEY=KEY)).detail
    assert "cannot be reached" in (await finding(tmp_path, QDRANT_URL="http://127.0.0.1:9")).detail
    assert "http to a host outside" in (await finding(tmp_path, QDRANT_URL="http://qdrant.example.com")).detail
