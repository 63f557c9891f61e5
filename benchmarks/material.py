"""What is measured on: the sources of installed packages, or the clones of `--repos`.

Installed packages are at hand on every machine, need no network, and are code as people write it. The list is fixed and read in order, so
two machines with the same lock measure on the same text.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from rag.chunking import ChunkingSettings, IsolatedChunker, TokenizerCounter, make_chunker
from rag.embedding.models import EmbeddingSettings, tokenizer_file
from rag.errors import FootnoteError
from rag.source.languages import language_of
from rag.source.mirror import Mirror
from rag.source.redaction import redact
from rag.types import Chunk, Document

PACKAGES = [
    "aiohttp",
    "slack_sdk",
    "slack_bolt",
    "groq",
    "httpx",
    "rich",
    "pydantic",
    "typer",
    "apscheduler",
    "qdrant_client",
    "sqlite_utils",
    "tokenizers",
    "sentence_transformers",
    "numpy",
    "scipy",
    "transformers",
    "torch",
]
LONGEST = 200_000  # characters of a file that is taken; longer ones are tables
QUESTIONS = (
    "where are cookies parsed and validated",
    "how is a request retried after a rate limit",
    "class that holds a connection pool",
    "what happens when a websocket is closed unexpectedly",
    "convert a schema to json",
    "how are command line options declared",
    "read a file in chunks",
    "error raised for an invalid token",
    "parse_url",
    "default timeout of the client",
    "which scheduler jobs are coalesced",
    "render a table with borders",
    "how does streaming decode server sent events",
    "HTTPServerError",
    "normalise a vector to unit length",
    "sparse matrix multiplication",
    "open a database connection",
    "verify the signature of a request",
    "register a listener for an event",
    "tokenise text with padding and truncation",
)

_GIT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Material:
    """Documents and chunks to measure on. `clones`: those of `--repos`, empty where installed packages are used."""

    def __init__(self, clones: tuple[Path, ...] = ()) -> None:
        self.clones = clones
        self._chunks: list[Chunk] = []
        self._cutting = self._cut()

    @property
    def name(self) -> str:
        return ", ".join(clone.name for clone in self.clones) or "installed packages' sources"

    def documents(self) -> Iterator[Document]:
        """In a fixed order, redacted."""
        if not self.clones:
            for path, text in installed_files():
                safe, count = redact(text)
                yield Document(path, safe, language_of(path), "", count)
        for clone in self.clones:
            mirror = Mirror.existing(clone)
            for found in mirror.documents(mirror.head().commit):
                if isinstance(found, Document):
                    yield found

    def chunks(self, count: int) -> list[Chunk]:
        """The first `count` chunks, fewer where there are fewer."""
        self._chunks += islice(self._cutting, max(0, count - len(self._chunks)))
        return self._chunks[:count]

    def _cut(self) -> Iterator[Chunk]:
        chunker = make_chunker(TokenizerCounter(tokenizer_file(EmbeddingSettings())), ChunkingSettings())
        for document in self.documents():
            yield from chunker.chunk(document)


def installed_files() -> Iterator[tuple[str, str]]:
    """(path, text) of the Python sources of PACKAGES that are installed."""
    for package in PACKAGES:
        root = _root(package)
        for file in sorted(root.rglob("*.py")) if root else ():
            try:
                text = file.read_text("utf-8")
            except (OSError, UnicodeError):
                continue
            if 200 < len(text) < LONGEST:
                yield f"{package}/{file.relative_to(root)}" if root else "", text


def small_files(chunks: int, longest: int) -> dict[str, str]:
    """path -> text of installed files of up to `longest` characters, redacted, as many as make `chunks` chunks."""
    files: dict[str, str] = {}
    with IsolatedChunker(tokenizer_file(EmbeddingSettings()), ChunkingSettings()) as chunker:
        cut = 0
        for document in Material().documents():
            if len(document.text) > longest:
                continue
            files[document.path] = document.text
            cut += len(chunker.chunk(document))
            if cut >= chunks:
                break
    return files


@cache
def _root(package: str) -> Path | None:
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def find_clones(directory: Path) -> tuple[Path, ...]:
    """Clones that lie in `directory` or one folder below, bare or with a work tree, in the order of their names."""
    found = [path for pattern in ("*", "*/*") for path in sorted(directory.glob(pattern)) if _is_clone(path)]
    return tuple(path for path in found if path.name != ".git" and not any(other in path.parents for other in found))


def _is_clone(path: Path) -> bool:
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def git(directory: Path, *arguments: str) -> str:
    """Runs git there with nobody's configuration. Returns what it printed. Raises: FootnoteError."""
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments], capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **_GIT}
    )
    if done.returncode:
        raise FootnoteError(f"git {arguments[0]} failed in {directory.name}: {done.stderr.strip()[:200]}")
    return done.stdout.strip()


def make_repository(directory: Path, files: Mapping[str, str]) -> Path:
    """A git repository of `files`, in one commit on its branch "main"."""
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--initial-branch", "main")
    commit_files(directory, files)
    return directory


def commit_files(directory: Path, files: Mapping[str, str]) -> str:
    """Writes and commits; the commit's id."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "-m", "Change")
    return git(directory, "rev-parse", "HEAD")
