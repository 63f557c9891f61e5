"""A small real repository and its index, for every room:

    from tests.embedding.fixtures import models_directory
    from tests.index.fixtures import sample_index, sample_source

`sample_index` is built once a session, by the real builder with the real model. Do not change either: copy with `make_repository`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Indexes, RepositoryIndex
from rag.index.jobs import BuildJob, BuildReport
from rag.types import EmbeddingSpec, Repository

SAMPLE_FILES: Mapping[str, str] = {
    "README.md": """# Larder

Larder keeps parcels in lockers and tells people when theirs has arrived.

## Installing

Install it with pip and start the service with `larder serve`.

## Expiry

A parcel that nobody fetches within seven days is sent back to its sender.
""",
    "larder/__init__.py": '"""Parcels in lockers."""\n',
    "larder/lockers.py": '''"""Lockers of one station and who holds them."""

from dataclasses import dataclass


class NoFreeLocker(Exception):
    """Every locker of the station is taken."""


@dataclass
class Locker:
    number: int
    parcel: str | None = None

    def is_free(self) -> bool:
        """A locker without a parcel is free."""
        return self.parcel is None


class Station:
    """A row of lockers under one roof."""

    def __init__(self, size: int) -> None:
        self.lockers = [Locker(number) for number in range(1, size + 1)]

    def assign_locker(self, parcel: str) -> Locker:
        """Puts a parcel into the first free locker."""
        for locker in self.lockers:
            if locker.is_free():
                locker.parcel = parcel
                return locker
        raise NoFreeLocker(parcel)

    def release_locker(self, number: int) -> str | None:
        """Takes the parcel out and frees the locker."""
        locker = self.lockers[number - 1]
        parcel, locker.parcel = locker.parcel, None
        return parcel
''',
    "larder/expiry.py": '''"""Sends parcels back that nobody fetches."""

import datetime

MAX_AGE = datetime.timedelta(days=7)


def expired_parcels(arrivals, now):
    """Names of the parcels that are older than MAX_AGE, the oldest first."""
    old = [(arrived, name) for name, arrived in arrivals.items() if now - arrived > MAX_AGE]
    return [name for _, name in sorted(old)]


def schedule_return(name, courier):
    """Asks the courier to take a parcel back to its sender."""
    courier.pick_up(name, reason="expired")
''',
    "web/notify.js": """// Tells people that a parcel has arrived.

export function formatNotice(person, locker) {
  return `Hello ${person}, your parcel waits in locker ${locker}.`;
}

export class Notifier {
  constructor(transport) {
    this.transport = transport;
  }

  async sendNotice(person, locker) {
    const text = formatNotice(person, locker);
    await this.transport.send(person, text);
  }
}
""",
    "gate/retry.go": """package gate

import "time"

// RetryWithBackoff calls open until the lock answers, doubling the pause after every failure.
func RetryWithBackoff(open func() error, attempts int) error {
	pause := 100 * time.Millisecond
	var err error
	for i := 0; i < attempts; i++ {
		if err = open(); err == nil {
			return nil
		}
		time.Sleep(pause)
		pause *= 2
	}
	return err
}
""",
    "settings.toml": '[station]\nname = "north"\nsize = 24\n',
}

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-05T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-05T10:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(directory: Path, *arguments: str) -> str:
    """Runs git there, as Ada, with nobody's configuration. Returns what it printed."""
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments], check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **_IDENTITY}
    )
    return done.stdout.strip()


def make_repository(directory: Path, files: Mapping[str, str] | Mapping[str, str | bytes] = SAMPLE_FILES) -> Path:
    """A git repository with a work tree, its branch "main", and one commit of `files`."""
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--initial-branch", "main")
    commit_files(directory, files)
    return directory


def commit_files(
    directory: Path, files: Mapping[str, str] | Mapping[str, str | bytes] | Mapping[str, str | bytes | None], message: str = "Change"
) -> str:
    """Writes files (None deletes), commits, and returns the full id of the commit."""
    for name, content in files.items():
        path = directory / name
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


def data_directory(directory: Path, models_directory: Path) -> Path:
    """A data directory of its own that borrows the session's exported model."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copytree(models_directory, directory / "models", copy_function=os.link)
    return directory


@dataclass(frozen=True, slots=True)
class SampleIndex:
    """Everything about the session's index. `indexes.for_name(repository.name)` opens it."""

    data_dir: Path
    repository: Repository
    report: BuildReport
    indexes: Indexes
    spec: EmbeddingSpec

    @property
    def index(self) -> RepositoryIndex:
        return self.indexes.for_name(self.repository.name)


@pytest.fixture(scope="session")
def sample_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of SAMPLE_FILES: Python, JavaScript, Go, Markdown and TOML."""
    return make_repository(tmp_path_factory.mktemp("sources") / "larder")


@pytest.fixture(scope="session")
def sample_index(sample_source: Path, models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleIndex]:
    """SAMPLE_FILES as repository "larder", indexed whole."""
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository(
        name="larder", source=str(sample_source), branch="main", audience=("*",), web="https://github.com/example/larder"
    )
    report = build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    spec = describe(EmbeddingSettings())
    indexes = Indexes(data_dir, default_backend(), spec)
    yield SampleIndex(data_dir, repository, report, indexes, spec)
    indexes.close()
