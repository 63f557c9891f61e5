"""Making a bare mirror follow its source, whatever happened to either in between."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag.errors import BranchNotFound, CloneFailed, EmptyRepository, SourceNotFound
from rag.source import git
from rag.source.location import Location, parse_location, public_addresses

logger = logging.getLogger(__name__)

Progress = Callable[[str], None] | None
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_USUAL = ("main", "master", "trunk", "develop")
_DETACHED = "refs/footnote/detached"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ABSENT = re.compile(r"not found|does not exist|does not appear to be a git repository|no such file|error: 404", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"authentication failed|could not read (?:user|pass)|permission denied|access denied|error: 40[13]|terminal prompts disabled|host key",
    re.IGNORECASE,
)
_DAMAGED = re.compile(
    r"corrupt|bad object|not a git repository|unable to read|index file|did not send all necessary|missing (?:blob|tree|commit)",
    re.IGNORECASE,
)
_MOVED = re.compile(r"error: 30[12378]|redirect", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Call:
    """What all git processes of one synchronisation share. `deadline`: of time.monotonic."""

    location: Location
    env: Mapping[str, str]
    settings: tuple[str, ...]
    token: str
    deadline: float
    object_format: str = "sha1"

    def run(self, git_dir: Path | None, *arguments: str, on_progress: Progress = None) -> git.Finished:
        left = max(0.1, self.deadline - time.monotonic())
        try:
            return git.run(
                git_dir,
                arguments,
                timeout=left,
                env=self.env,
                settings=self.settings,
                secret=self.token,
                watched=git_dir,
                on_progress=on_progress,
            )
        except git.GitTimeout as error:
            raise CloneFailed(f"{self.location.url} could not be read in time. {error.problem}", error.remedy) from error


def synchronise(
    directory: Path, source: str, *, token: str, timeout: float, private_hosts: Collection[str] = (), on_progress: Progress = None
) -> None:
    """Clones `source` into `directory`, or fetches what is new, and points HEAD to the source's default branch.

    Raises: SourceRefused, SourceNotFound, CloneFailed, EmptyRepository, DiskFull.
    """
    deadline = time.monotonic() + timeout
    location, settings = _checked(source, private_hosts)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _locked(directory, deadline), git.network_environment(location, token) as env:
        _sweep(directory)
        call = _Call(location, env, settings, token, deadline)
        call, head = _default_head(call)
        if _stands(directory):
            try:
                _fetch(call, directory, head, on_progress)
            except CloneFailed as error:
                if not _DAMAGED.search(error.problem):
                    raise
                logger.warning("the mirror %s is damaged and is cloned again", directory.name)
            else:
                return
        _clone(call, directory, head, on_progress)


def newest(source: str, branch: str, *, token: str, timeout: float, private_hosts: Collection[str] = ()) -> str:
    """The full id of the newest commit of `branch`, or of the default branch, as the source says now. Fetches nothing, writes nothing.

    Raises: SourceRefused, SourceNotFound, CloneFailed, BranchNotFound, EmptyRepository.
    """
    location, settings = _checked(source, private_hosts)
    reference = f"refs/heads/{branch}" if branch else "HEAD"
    with git.network_environment(location, token) as env:
        call, lines = _listed(_Call(location, env, settings, token, time.monotonic() + timeout), reference)
        if not branch and not _commit_of("HEAD", lines):  # its HEAD leads nowhere: the branch that `synchronise` takes instead
            call, head = _default_head(call)
            reference = f"refs/heads/{head}"
            call, lines = _listed(call, reference)
    commit = _commit_of(reference, lines)
    if not commit:
        raise BranchNotFound(f"{call.location.url} has no branch {branch!r}.", "Check its spelling.")
    return commit


def _commit_of(reference: str, lines: Sequence[str]) -> str:
    """Patterns of ls-remote match the ends of names, so that other references may be listed too."""
    found = (line.partition("\t") for line in lines)
    return next((commit for commit, _, name in found if name == reference and _COMMIT.fullmatch(commit)), "")


def _checked(source: str, private_hosts: Collection[str]) -> tuple[Location, tuple[str, ...]]:
    """Where the source is, and git's settings that keep it from being led elsewhere."""
    location = parse_location(source, private_hosts)
    if not (location.kind == "https" and git.uses_proxy()):
        addresses = public_addresses(location, private_hosts)
        if addresses and location.kind == "https":
            # git must not resolve the name again and be told another address.
            pinned = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
            return location, (f"http.curloptResolve={location.host}:{location.port}:{pinned}",)
    return location, ()


def _listed(call: _Call, *patterns: str) -> tuple[_Call, list[str]]:
    """What the source says of these references, a line each. The call comes back with the URL that answered."""
    url = call.location.url
    done = call.run(None, "ls-remote", "--symref", "--", url, *patterns)
    if done.code != 0 and call.location.kind == "https" and not url.endswith(".git") and _MOVED.search(done.stderr):
        # Some hosts send the short form to the one with ".git". Redirects are not followed; this one is known.
        longer = replace(call.location, url=url.rstrip("/") + ".git")
        call = replace(call, location=longer)
        done = call.run(None, "ls-remote", "--symref", "--", longer.url, *patterns)
    if done.code != 0:
        raise _failure(call, done)
    return call, done.stdout.decode("utf-8", "replace").splitlines()


def _default_head(call: _Call) -> tuple[_Call, str]:
    """The source's default branch, or its commit if it is detached. The call comes back with the URL that answered."""
    call, lines = _listed(call, "HEAD", "refs/heads/*")
    if any(re.match(r"[0-9a-f]{64}\t", line) for line in lines):
        call = replace(call, object_format="sha256")
    branches = [line.partition("\t")[2].removeprefix("refs/heads/") for line in lines if "\trefs/heads/" in line]
    for line in lines:
        if line.startswith("ref: refs/heads/") and line.endswith("\tHEAD"):
            named = line.removeprefix("ref: refs/heads/").removesuffix("\tHEAD")
            if named in branches:
                return call, named
    detached = next((line.partition("\t")[0] for line in lines if line.endswith("\tHEAD") and not line.startswith("ref: ")), "")
    same = [
        line.partition("\t")[2].removeprefix("refs/heads/") for line in lines if detached and line.startswith(f"{detached}\trefs/heads/")
    ]
    if same:  # a server that does not say which branch its HEAD is
        return call, next((name for name in _USUAL if name in same), same[0])
    if detached:
        return call, detached
    if not branches:
        raise EmptyRepository(f"{call.location.url} has no commit.", "Commit something, then index it again.")
    return call, next((name for name in _USUAL if name in branches), branches[0])


def _clone(call: _Call, directory: Path, head: str, on_progress: Progress) -> None:
    """Fetches into a directory beside, then moves it into place: there is never half a mirror under the name."""
    staging = directory.with_name(f"{directory.name}.partial-{secrets.token_hex(4)}")
    try:
        if _copied(call, staging):
            _fetch(call, staging, head, on_progress)
            _place(staging, directory)
            return
        made = call.run(None, "init", "--quiet", "--bare", "--template=", f"--object-format={call.object_format}", "--", str(staging))
        if made.code != 0:
            raise CloneFailed(
                f"The directory {staging} cannot be made: {made.complaint}.", "Check its permissions and the room on the disk."
            )
        _fetch(call, staging, head, on_progress)
        _place(staging, directory)
    finally:
        if staging.exists():
            shutil.rmtree(staging, ignore_errors=True)


def _place(staging: Path, directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    staging.rename(directory)


def _copied(call: _Call, staging: Path) -> bool:
    """Whether a path's objects could be taken over as files, by hard links where the disk allows: seconds instead of minutes."""
    if call.location.kind != "path":
        return False
    source = Path(call.location.url)
    objects = next((place for place in (source / ".git" / "objects", source / "objects") if place.is_dir()), None)
    if objects is None or (objects / "info" / "alternates").exists():
        return False  # borrowed objects may vanish
    # A link among the objects could lead to any file of this machine, and old versions of git follow it. A partial clone lacks objects.
    if any(entry.is_symlink() or entry.suffix == ".promisor" for entry in (objects, *objects.glob("*"), *objects.glob("*/*"))):
        return False
    arguments = ("clone", "--quiet", "--bare", "--local", "--no-tags", "--template=", "--no-recurse-submodules")
    done = call.run(None, *arguments, "--", str(source), str(staging))
    if done.code == 0:
        done = call.run(staging, "config", "--remove-section", "remote.origin")
    if done.code != 0 and staging.exists():
        shutil.rmtree(staging)
    return done.code == 0


def _fetch(call: _Call, directory: Path, head: str, on_progress: Progress) -> None:
    detached = bool(re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head))
    refspecs = (*_REFSPECS, f"+HEAD:{_DETACHED}") if detached else _REFSPECS
    arguments = (
        "fetch",
        "--prune",
        "--no-tags",
        "--force",
        "--update-shallow",
        "--update-head-ok",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--progress",
    )
    done = call.run(directory, *arguments, "--", call.location.url, *refspecs, on_progress=on_progress)
    if done.code != 0:
        _sweep(directory)
        raise _failure(call, done)
    if detached:
        pointed = call.run(directory, "update-ref", "--no-deref", "HEAD", head)
    else:
        pointed = call.run(directory, "symbolic-ref", "HEAD", f"refs/heads/{head}")
    if pointed.code != 0:
        raise _failure(call, pointed)


def _failure(call: _Call, done: git.Finished) -> CloneFailed | SourceNotFound:
    url, said = call.location.url, done.complaint.rstrip(".")
    if call.location.kind == "path":
        if "dubious ownership" in done.stderr:
            return CloneFailed(f"{url} belongs to another user, and git refuses it.", "Change its owner, or clone it and give the clone.")
        if _is_partial(Path(url)):
            return CloneFailed(
                f"{url} is a partial clone, which lacks files of the commits that it names.",
                "Give the URL that it was cloned from, or clone that without --filter and give the clone.",
            )
        return CloneFailed(f"{url} cannot be fetched: {said}.", "Run `git fsck` there.")
    if _MOVED.search(done.stderr):
        return CloneFailed(f"{url} redirects to another place, which is not followed.", "Give the repository's new URL.")
    if _FORBIDDEN.search(done.stderr):
        secret = "its token" if call.location.kind == "https" else "the ssh key and the known hosts"
        return CloneFailed(
            f"{url} may not be read: {said}.", f"Check the URL and {secret}; a private repository needs one that may read it."
        )
    if _ABSENT.search(done.stderr):
        return SourceNotFound(
            f"{url} does not lead to a repository: {said}.", "Check the URL; hosts also say this of private repositories."
        )
    return CloneFailed(f"{url} cannot be fetched: {said}.", "Check the URL and the network, then try again.")


def _is_partial(place: Path) -> bool:
    return any(next((home / "objects" / "pack").glob("*.promisor"), None) for home in (place / ".git", place))


def _stands(directory: Path) -> bool:
    return (directory / "HEAD").is_file() and (directory / "objects").is_dir() and (directory / "refs").is_dir()


def _sweep(directory: Path) -> None:
    """Removes what killed processes left. Only under the lock: then nobody else's are among them."""
    for partial in directory.parent.glob(f"{directory.name}.partial-*"):
        shutil.rmtree(partial, ignore_errors=True)
    for left in (
        *directory.glob("*.lock"),
        *directory.glob("refs/**/*.lock"),
        *directory.glob("objects/pack/tmp_*"),
        *directory.glob("objects/pack/.tmp-*"),
    ):
        with contextlib.suppress(OSError):
            left.unlink()
    for left in directory.glob("objects/tmp_objdir-*"):
        shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _locked(directory: Path, deadline: float) -> Iterator[None]:
    descriptor = os.open(directory.with_name(f"{directory.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise CloneFailed(f"Another process is still fetching into {directory}.", "Wait for it, then try again.") from None
                time.sleep(0.1)
        yield
    finally:
        os.close(descriptor)
