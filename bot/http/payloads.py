"""What GitHub and GitLab send for a push, as far as Footnote reads it: where, and which branch. Nothing else of it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, Field

from bot.http.sources import source_key

_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Push:
    """`sources`: keys of `source_key`, one for each form of the URL. `branch`: "" for a tag. `default_branch`: "" where it is not said."""

    sources: frozenset[tuple[str, str]]
    branch: str
    default_branch: str
    deleted: bool

    def concerns(self, branch: str) -> bool:
        """Whether a repository that reads this branch ("" for the default one) has something new."""
        if self.deleted or not self.branch:
            return False
        return self.branch == branch if branch else self.default_branch in ("", self.branch)


class _GitHubRepository(BaseModel):
    clone_url: str = Field("", max_length=2000)
    ssh_url: str = Field("", max_length=2000)
    html_url: str = Field("", max_length=2000)
    default_branch: str | None = Field("", max_length=1000)


class _GitHubPush(BaseModel):
    ref: str = Field(max_length=1000)
    deleted: bool = False
    repository: _GitHubRepository


class _GitLabProject(BaseModel):
    git_http_url: str | None = Field("", max_length=2000)
    git_ssh_url: str | None = Field("", max_length=2000)
    web_url: str | None = Field("", max_length=2000)
    default_branch: str | None = Field("", max_length=1000)


class _GitLabPush(BaseModel):
    ref: str = Field(max_length=1000)
    after: str | None = Field("", max_length=100)
    project: _GitLabProject


def github_push(body: bytes) -> Push:
    """Raises: ValueError for what is no push."""
    read = _GitHubPush.model_validate_json(body)
    where = read.repository
    return _push((where.clone_url, where.ssh_url, where.html_url), read.ref, where.default_branch, read.deleted)


def gitlab_push(body: bytes) -> Push:
    """Raises: ValueError for what is no push."""
    read = _GitLabPush.model_validate_json(body)
    where = read.project
    gone = bool(read.after) and not (read.after or "").strip("0")
    return _push((where.git_http_url, where.git_ssh_url, where.web_url), read.ref, where.default_branch, gone)


def _push(urls: tuple[str | None, ...], ref: str, default_branch: str | None, deleted: bool) -> Push:
    keys = frozenset(key for url in urls if url and (key := source_key(url)) is not None)
    return Push(keys, ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else "", default_branch or "", deleted)
