"""Rebuilding what was pushed: many pushes become one build, and what is pushed during a build gets exactly one more."""

from __future__ import annotations

import asyncio
import logging

from rag.errors import BuildRunning
from rag.types import Repository
from scheduler.builds import Builds

logger = logging.getLogger(__name__)


class Pushes:
    """Repositories whose index is to be brought up to date soon, each at most once. Failures are in the log of builds, and are told there.

    `pause`: seconds before asking again for a repository that somebody else is building.
    """

    def __init__(self, builds: Builds, *, pause: float = 5.0) -> None:
        self._builds = builds
        self._pause = pause
        self._wanted: dict[str, tuple[Repository, str]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped = False

    def pushed(self, repository: Repository, cause: str = "push") -> None:
        """Builds the repository: at once, or once more after the build that is at work, which may have read what was before.

        Returns at once. After `stop` it does nothing. `cause`: what the log of builds says.
        """
        name = repository.name
        if self._stopped or (name in self._tasks and self._builds.waiting(name)):
            return  # the build that is waited for has read nothing yet
        self._wanted.setdefault(name, (repository, cause))
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._serve(name), name=f"build {name} after a push")

    def pending(self, name: str) -> bool:
        """Whether the repository is being built, or will be."""
        return name in self._tasks or name in self._builds.running()

    async def stop(self) -> None:
        """Starts no further build. Builds that run are ended by `Builds.stop`."""
        self._stopped = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, name: str) -> None:
        try:
            while name in self._wanted:
                await self._builds.idle(name)
                repository, cause = self._wanted.pop(name)
                try:
                    await self._builds.build(repository, cause)
                except BuildRunning:  # by hand, or by another process: it may have read what was before
                    self._wanted.setdefault(name, (repository, cause))
                    await asyncio.sleep(self._pause)
                except Exception as error:
                    logger.warning("%s was not built after a push (%s)", name, type(error).__name__)
        finally:
            del self._tasks[name]
