"""Files for one platform alone, where another stands for all: `door_windows.go` beside `door.go`, `jvm/src/Door.kt` beside
`common/src/Door.kt`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

from rag.index.tokens import split_words
from rag.retrieval.paths import is_named_by_directory

_SYSTEMS = """
aix android arm arm64 amd64 bsd darwin dragonfly freebsd illumos ios js jvm linux mac macos mingw native netbsd nix openbsd osx posix
solaris tvos unix wasi wasm watchos win win32 win64 windows x86
"""
_PLATFORMS = frozenset(_SYSTEMS.split())
_SHARED = frozenset({"common", "shared", "generic"})
_BESIDE = frozenset({"main", "test", "and", "non"})  # jvmMain, jsAndWasmShared
_OF_NAME = sorted(_PLATFORMS | _SHARED, key=len, reverse=True)
_SUFFIX = re.compile(rf"(?<=.)(?:[._-](?i:{'|'.join(_OF_NAME)})|(?<=[a-z0-9])(?:{'|'.join(name.capitalize() for name in _OF_NAME)}))$")
_NOTHING: frozenset[str] = frozenset()


def variants(paths: Iterable[str]) -> dict[int, frozenset[str]]:
    """Of files that are for some platforms alone, and have a twin for all, those platforms' names, by place among the paths."""
    split = [without_platform(path) for path in paths]
    for_all = {bare for bare, platforms in split if not platforms}
    return {number: platforms for number, (bare, platforms) in enumerate(split) if platforms and bare in for_all}


def without_platform(path: str) -> tuple[str, frozenset[str]]:
    """The path without what it says of platforms, in lower case, and which platforms these are: "jvmMain/Door.jvm.kt" -> "door.kt", jvm.
    What is called after its directory is kept: "unix/mod.rs" is a part of "mod.rs", not another one."""
    pure = PurePosixPath(path)
    if is_named_by_directory(pure.stem):
        return path.lower(), _NOTHING
    kept: list[str] = []
    found: set[str] = set()
    for directory in pure.parts[:-1]:
        platforms = _of_directory(directory)
        if platforms is None:
            kept.append(directory.lower())
        else:
            found |= platforms
    stem = pure.stem
    while match := _SUFFIX.search(stem):
        stem = stem[: match.start()]
        found.update({match[0].lstrip("._-").lower()} & _PLATFORMS)
    name = (stem + pure.suffix).lower()
    return "/".join([*kept, name]), frozenset(found) or _NOTHING


@lru_cache(maxsize=10_000)
def _of_directory(name: str) -> frozenset[str] | None:
    """The platforms that a directory is for, none where it is for all; None where it is about something else."""
    words = split_words(name)
    said = [word for word in words if word not in _BESIDE]
    if not said or any(word not in _PLATFORMS and word not in _SHARED for word in said):
        return None
    return _NOTHING if "non" in words else frozenset(word for word in said if word in _PLATFORMS)
