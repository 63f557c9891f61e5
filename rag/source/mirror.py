"""A repository on this disk: a full bare mirror that follows its source, or a clone that the operator gave.

A mirror is fetched into a directory beside its own and moved into place once whole. Its branches and tags are the source's;
every commit that was ever its head stays reachable under refs/footnote/, so that a citation outlives a forced push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from rag.errors import BranchNotFound, EmptyRepository, SourceError, SourceNotFound
from rag.source import blobs, git, selection
from rag.source.decoding import decode
from rag.source.languages import language_of
from rag.source.redaction import redact
from rag.source.selection import Skipped, SourceLimits
from rag.source.sync import newest, synchronise
from rag.types import PROSE, Document, Repository

__all__ = ["Head", "Mirror", "Skipped", "SourceLimits"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@#=-]{0,250}(?:[~^][0-9]{0,4}){0,4}")
_QUICK = 60.0


@dataclass(frozen=True, slots=True)
class Head:
    """The newest commit of a branch. `commit`: full hexadecimal id. `branch`: "" where the head is detached. `committed_at`: UTC."""

    commit: str
    branch: str
    committed_at: datetime


class Mirror:
    """Reading is safe in several threads and processes at once; `sync` takes a lock between processes."""

    def __init__(self, directory: Path, *, token: str = "", timeout: float = 900.0, private_hosts: Sequence[str] = ()) -> None:
        """`directory`: the bare mirror, made by `sync` if it is not there. `timeout`: seconds for one clone or fetch.

        `token`: for https, handed to git by askpass alone. `private_hosts`: hosts allowed although they lie inside a network.
        """
        self._directory = Path(directory).absolute()
        self._git_dir = self._directory
        self._token = token
        self._timeout = timeout
        self._private_hosts = frozenset(private_hosts)
        self._read_only = False

    @classmethod
    def existing(cls, directory: Path) -> Mirror:
        """A clone as it is: with a work tree, bare, or a worktree of another. Only ever read. Raises: SourceNotFound."""
        mirror = cls(directory)
        marker = mirror._directory / ".git"
        mirror._git_dir = marker if marker.exists() else mirror._directory
        mirror._read_only = True
        if mirror._git("rev-parse", "--git-dir").code != 0:
            raise SourceNotFound(f"{directory} is not a git repository.", "Give a clone or a bare repository.")
        return mirror

    def sync(self, repository: Repository, on_progress: Callable[[str], None] | None = None) -> Head:
        """Clones or fetches `repository.source` and gives the head of its branch (by default the source's own default branch).

        An interrupted clone leaves nothing, an interrupted fetch leaves what was there. Blocks; up to the timeout and a little more.
        Raises: SourceRefused, SourceNotFound, CloneFailed, BranchNotFound, EmptyRepository, DiskFull.
        """
        if self._read_only:
            raise SourceError(f"{self._directory} is only read, never fetched into.", "Make a mirror of it.")
        synchronise(
            self._directory,
            repository.source,
            token=self._token,
            timeout=self._timeout,
            private_hosts=self._private_hosts,
            on_progress=on_progress,
        )
        head = self.head(repository.branch)
        self._git("update-ref", f"refs/footnote/read/{head.commit}", head.commit)
        return head

    def newest(self, repository: Repository) -> str:
        """The full id of the newest commit of the repository's branch, as its source says now; the mirror stays as it is. Blocks.

        Raises: SourceRefused, SourceNotFound, CloneFailed, BranchNotFound, EmptyRepository.
        """
        return newest(
            repository.source, repository.branch, token=self._token, timeout=min(self._timeout, _QUICK), private_hosts=self._private_hosts
        )

    def head(self, branch: str = "") -> Head:
        """The head of `branch`, or of the default branch. Raises: BranchNotFound, EmptyRepository, SourceNotFound (no mirror yet)."""
        if not branch:
            symbolic = self._git("symbolic-ref", "--quiet", "HEAD")
            branch = symbolic.stdout.decode("utf-8", "replace").strip().removeprefix("refs/heads/") if symbolic.code == 0 else ""
            commit = self._commit("HEAD")
            if commit:
                return Head(commit, branch, self._committed_at(commit))
            if not self._branches():
                self._require()
                raise EmptyRepository(f"The repository in {self._directory} has no commit.", "Commit something, then index it again.")
            raise BranchNotFound(f"The default branch {branch!r} does not exist.", self._nearest(branch))
        for place in ("refs/heads/", "refs/remotes/origin/") if self._read_only else ("refs/heads/",):
            shown = self._git("show-ref", "--verify", "--hash", "--", place + branch)
            if shown.code == 0 and (commit := self._commit(shown.stdout.decode().strip())):
                return Head(commit, branch, self._committed_at(commit))
        self._require()
        if not self._branches():
            raise EmptyRepository(f"The repository in {self._directory} has no commit.", "Commit something, then index it again.")
        raise BranchNotFound(f"There is no branch {branch!r}.", self._nearest(branch))

    def resolve(self, revision: str) -> str:
        """The full id of the commit that a full or short id, branch or tag names. Raises: SourceNotFound."""
        plain = _REVISION.fullmatch(revision) and ".." not in revision and "@{" not in revision
        commit = (self._commit(revision) or self._commit(f"refs/remotes/origin/{revision}")) if plain else ""
        if not commit:
            self._require()
            raise SourceNotFound(f"The repository has no commit {revision[:80]!r}.", "Check its spelling; fetch if it is new.")
        return commit

    def documents(
        self,
        commit: str,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        root: str = "",
        limits: SourceLimits = SourceLimits(),
    ) -> Iterator[Document | Skipped]:
        """Every file of the commit in git's order: decoded and redacted, or skipped for a reason (rag.source.selection.REASONS).

        `root`: only what lies below this folder; paths stay relative to the repository. One git process serves all contents, and
        no more than one content is held at a time. Raises: SourceNotFound, SourceError, ConfigurationError (a bad glob).
        """
        globs = selection.Globs(include, exclude)
        commit = self._checked(commit)
        listed = blobs.entries(self._git_dir, commit, root)
        said = blobs.attributes(self._git_dir, commit, listed, partly=bool(root))
        return self._stream(listed, said, globs, limits)

    def document(self, commit: str, path: str) -> Document:
        """One file, decoded and redacted, for showing cited lines. Raises: SourceNotFound where there is no text to show, SourceError."""
        commit = self._checked(commit)
        entry = blobs.find(self._git_dir, commit, path)
        if entry is None or entry.mode != "file":
            raise SourceNotFound(
                f"There is no file {path!r} at commit {commit[:12]}.", "Check its spelling, from the root of the repository."
            )
        if selection.is_secrets_file(path) or entry.size > SourceLimits().max_file_bytes:
            raise SourceNotFound(f"The file {path!r} is not shown.", "Files of secrets and files over 1 MB are never read.")
        with blobs.Blobs(self._git_dir) as reader:
            data = next(iter(reader.read([entry.blob])))
        document = _document(entry, data, {}, check=False) if data is not None else None
        if not isinstance(document, Document):
            raise SourceNotFound(f"The file {path!r} has no text at commit {commit[:12]}.", "Only text can be shown.")
        return document

    def commits_behind(self, commit: str, head: str) -> int:
        """How many commits `head` has that `commit` has not. Raises: SourceNotFound."""
        done = self._git("rev-list", "--count", f"{self._checked(commit)}..{self._checked(head)}", timeout=300.0)
        if done.code != 0:
            raise SourceError(f"git cannot count the commits of {self._directory}: {done.complaint}.", "Run `git fsck` there.")
        return int(done.stdout)

    def _stream(
        self, listed: Sequence[blobs.Entry], said: dict[bytes, dict[str, bool]], globs: selection.Globs, limits: SourceLimits
    ) -> Iterator[Document | Skipped]:
        verdicts: list[str] = []
        files = size = 0
        for entry in listed:
            reason = selection.reason_by_name(entry, globs, said.get(entry.name, {}), limits)
            if not reason:
                if files >= limits.max_files or size + entry.size > limits.max_total_bytes:
                    reason = "too many files"
                else:
                    files, size = files + 1, size + entry.size
            verdicts.append(reason)
        with blobs.Blobs(self._git_dir) as reader:
            contents = reader.read([entry.blob for entry, reason in zip(listed, verdicts, strict=True) if not reason])
            for entry, reason in zip(listed, verdicts, strict=True):
                if reason:
                    yield Skipped(entry.path, reason)
                else:
                    data = next(contents)
                    yield _document(entry, data, said.get(entry.name, {})) if data is not None else Skipped(entry.path, "missing")

    def _git(self, *arguments: str, timeout: float = _QUICK) -> git.Finished:
        return git.run(self._git_dir, arguments, timeout=timeout)

    def _commit(self, revision: str) -> str:
        done = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        found = done.stdout.decode().strip()
        return found if done.code == 0 and _COMMIT.fullmatch(found) else ""

    def _checked(self, commit: str) -> str:
        return self.resolve(commit)

    def _committed_at(self, commit: str) -> datetime:
        raw = self._git("cat-file", "commit", commit).stdout.decode("utf-8", "replace")
        when = re.search(r"^committer .*> (-?\d{1,15})(?: [+-]\d{4})?$", raw, re.MULTILINE)
        try:
            return datetime.fromtimestamp(int(when[1]) if when else 0, UTC)
        except (OverflowError, ValueError, OSError):
            return datetime.fromtimestamp(0, UTC)  # written by a broken tool

    def _branches(self) -> list[str]:
        return self._git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/").stdout.decode("utf-8", "replace").split("\n")[:-1]

    def _nearest(self, branch: str) -> str:
        names = self._branches()
        near = get_close_matches(branch, names, 3, 0.5) or sorted(names)[:5]
        return "It has " + ", ".join(near) + (" and others." if len(names) > len(near) else ".")

    def _require(self) -> None:
        if not self._git_dir.exists():
            raise SourceNotFound(f"There is no mirror in {self._directory}.", "Index the repository first.")


def _document(entry: blobs.Entry, data: bytes, said: dict[str, bool], *, check: bool = True) -> Document | Skipped:
    if check and (reason := selection.reason_by_bytes(data)):
        return Skipped(entry.path, reason)
    by_name = language_of(entry.path)
    text = decode(data, is_code=by_name not in PROSE)
    if text is None:
        return Skipped(entry.path, "binary")
    language = language_of(entry.path, text[:400].partition("\n")[0])
    if check and (reason := selection.reason_by_text(entry.path, language, text, said)):
        return Skipped(entry.path, reason)
    redacted, count = redact(text)
    return Document(entry.path, redacted, language, entry.blob, count)
