"""The command line with QDRANT_URL set: as people run it, against Qdrant's REST interface on a loopback port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Footnote
from tests.index.fake_qdrant import FakeQdrant, Fault, fake_qdrant

KEY = "canary-key-canary-key"


@pytest.fixture
def fake() -> Iterator[FakeQdrant]:
    with fake_qdrant(api_key=KEY) as made:
        yield made


def test_index_search_and_what_becomes_of_a_server_that_is_lost(footnote: Footnote, sample_source: Path, fake: FakeQdrant) -> None:
    environment = {"QDRANT_URL": fake.url, "QDRANT_API_KEY": KEY}
    footnote.run("index", str(sample_source), "--name", "larder", env=environment)
    (collection,) = fake.collections()
    assert list(fake.aliases().values()) == [collection]
    found = json.loads(footnote.run("search", "who puts a parcel into a free locker", "--json", env=environment).stdout)
    assert found[0]["path"] == "larder/lockers.py"
    assert len(fake.asked("POST", "/points/query/batch")) >= 1
    assert all(request.api_key == KEY for request in fake.requests)
    fake.fault = lambda request: Fault(500)
    done = footnote.run("ask", "who puts a parcel into a free locker?", env=environment)
    assert "found by words alone" in done.stdout + done.stderr
    assert "larder/lockers.py" in done.stdout
    assert KEY not in done.stdout + done.stderr
    done = footnote.run("index", "larder", "--force", code=1, env=environment)
    assert "failed (500)" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
