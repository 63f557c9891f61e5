"""Which repositories there are: those of the file, and those that `footnote index` added by hand. The file wins."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

import sqlite_utils

from rag.database import Database, Migration
from rag.errors import ConfigurationError, NotIndexed
from rag.types import Repository


def _create(db: sqlite_utils.Database) -> None:
    db.conn.execute(
        """CREATE TABLE repositories_by_hand ( -- what `footnote index` added; known to the command line and the playground alone
  name TEXT PRIMARY KEY, -- how it is called
  source TEXT NOT NULL, -- path or URL, without credentials
  branch TEXT NOT NULL -- '' for the default branch
) STRICT"""
    )


MIGRATIONS = (Migration("repositories", 1, _create),)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RepositoryRegistry:
    """Names to repositories. Case does not tell names apart."""

    def __init__(self, configured: Sequence[Repository], database: Database) -> None:
        self._configured = tuple(configured)
        self._by_hand: tuple[Repository, ...] = ()
        self._database = database

    async def load(self) -> None:
        rows = await self._database.read(lambda db: list(db["repositories_by_hand"].rows_where(order_by="name")))
        self._by_hand = tuple(
            Repository(row["name"], row["source"], row["branch"], by_hand=True)
            for row in rows
            if self._find(row["name"], self._configured) is None
        )

    def configured(self) -> tuple[Repository, ...]:
        """Those that Slack may be told about, each to its audience."""
        return self._configured

    def all(self) -> tuple[Repository, ...]:
        return (*self._configured, *self._by_hand)

    def get(self, name: str) -> Repository:
        """Raises: NotIndexed naming the nearest one where there is no such repository."""
        found = self._find(name, self.all())
        if found is not None:
            return found
        names = [repository.name for repository in self.all()]
        nearest = difflib.get_close_matches(name, names, 1, 0.5)
        if nearest:
            remedy = f"Did you mean {nearest[0]}?"
        else:
            known = f"Known: {', '.join(names)}. " if names else ""
            remedy = f"{known}Add it: footnote index PATH_OR_URL"
        raise NotIndexed(f"There is no repository {name}.", remedy)

    def find(self, source: str, name: str = "", branch: str = "") -> Repository:
        """The known repository that a name, or the path or URL it was indexed from, means. `name` and `branch` choose among several.

        Raises: NotIndexed where there is none, ConfigurationError where there are several.
        """
        if name:
            return self.get(name)
        from_there = [one for one in self.all() if one.source == source and branch in ("", one.branch)]
        if len(from_there) > 1:
            names = ", ".join(one.name for one in from_there)
            raise ConfigurationError(f"Several repositories come from {source}: {names}.", "Give the name of the one that is meant.")
        return from_there[0] if from_there else self.get(source)

    def add(self, source: str, name: str = "", branch: str = "") -> Repository:
        """The repository that `footnote index SOURCE` means: a configured one by its name, or one added by hand (stored by `keep`).
        Looks at the disk.

        Raises: ConfigurationError where the name is taken by another source or cannot be one.
        """
        known = self._find(source, self.all())
        if known is not None and not name and not Path(source).exists():
            return known if not branch or branch == known.branch else self._other_branch(known, branch)
        source = os.path.abspath(source) if Path(source).exists() else source  # noqa: PTH100 - ".." goes, links stay as the operator wrote them
        name = name or default_name(source)
        if not NAME.fullmatch(name):
            raise ConfigurationError(
                f"{name!r} cannot be a repository's name.", "Use letters, digits, dots, dashes and underscores, 64 at most."
            )
        taken = self._find(name, self._configured)
        if taken is not None:
            if taken.source != source or branch not in ("", taken.branch):
                raise ConfigurationError(
                    f"{taken.name} is configured in the file with another source or branch.", "Give this one another name: --name NAME"
                )
            return taken
        former = self._find(name, self._by_hand)
        if former is not None and former.source != source:
            raise ConfigurationError(f"{former.name} is already the name of {former.source}.", "Give this one another name: --name NAME")
        return Repository(former.name if former else name, source, branch, by_hand=True)

    async def keep(self, repository: Repository) -> None:
        """Remembers one that was added by hand, once its index stands."""
        if not repository.by_hand:
            return
        row = {"name": repository.name, "source": repository.source, "branch": repository.branch}
        await self._database.write(lambda db: db["repositories_by_hand"].upsert(row, pk="name"))
        await self.load()

    @staticmethod
    def _find(name: str, among: Sequence[Repository]) -> Repository | None:
        return next((repository for repository in among if repository.name.casefold() == name.casefold()), None)

    @staticmethod
    def _other_branch(known: Repository, branch: str) -> Repository:
        if known.by_hand:
            return Repository(known.name, known.source, branch, by_hand=True)
        raise ConfigurationError(
            f"{known.name} is configured with the branch {known.branch or '(default)'}.", "Change the file, or add it under another --name."
        )


def default_name(source: str) -> str:
    """The last part of a path or URL without ".git": what most people call a repository."""
    last = re.split(r"[/:\\]", source.rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last.removesuffix(".git")).strip("-.")[:64] or "repository"
