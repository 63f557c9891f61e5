"""What holds for every test: nothing leaves this machine, nobody's configuration is read, the expensive fixtures are made once."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx

from tests import real_server
from tests.embedding.fixtures import embedder, models_directory
from tests.index.fixtures import sample_index, sample_source

__all__ = ["embedder", "models_directory", "sample_index", "sample_source"]

# Rooms whose code runs on the loop. Elsewhere the tests themselves call what blocks, to look at what it left.
ASYNCHRONOUS = frozenset({"answering", "bot", "cli", "log", "scheduler"})

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
for variable in list(os.environ):
    if variable.startswith(("FOOTNOTE_", "SLACK_", "GROQ_")) or variable.lower() in ("http_proxy", "https_proxy", "all_proxy"):
        del os.environ[variable]


def _stays(address: object) -> bool:
    """Whether a socket's address is on this machine."""
    if not isinstance(address, tuple):
        return True  # a Unix socket's path
    host = address[0].decode() if isinstance(address[0], bytes) else str(address[0])
    if host in ("localhost", "") or host in real_server.ADDRESSES:
        return True
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    return ip.is_loopback or ip.is_unspecified


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect" and not _stays(arguments[1]):
        raise PermissionError(f"a test tried to reach {arguments[1]!r}: tests stay on this machine")
    if event == "socket.getaddrinfo" and not _stays((arguments[0] or "localhost", arguments[1])):
        raise PermissionError(f"a test tried to look up {arguments[0]!r}: tests stay on this machine")


sys.addaudithook(_watch)  # cannot be undone by a test


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a real server its tests are not skipped but deselected: they are no tests of this run."""
    if not real_server.URL:
        without = [item for item in items if item.get_closest_marker("qdrant_server")]
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]


@pytest.fixture(autouse=True)
def _own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """A test never reads or writes the data directory or git configuration of whoever runs it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture(autouse=True)
def _nothing_blocks_the_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """A blocking call of ours on a running event loop (a file, a lock, SQLite, a sleep) raises, and so fails the test."""
    if request.path.parent.name not in ASYNCHRONOUS:
        yield
        return
    with blockbuster_ctx(["bot", "rag", "scheduler"]):
        yield
