"""Cloning and following: whatever happens to the source or to the process in between."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from rag.errors import BranchNotFound, CloneFailed, EmptyRepository, SourceError, SourceNotFound, SourceRefused
from rag.source.mirror import Mirror, Skipped
from rag.types import Document, Repository
from tests.source.https_server import HttpsServer
from tests.source.repositories import Bare, git

TOKEN = "canary0123456789TOKENcanary"


def paths(mirror: Mirror, commit: str) -> list[str]:
    return [document.path for document in mirror.documents(commit) if isinstance(document, Document)]


def everything_below(directory: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(directory.rglob("*")) if file.is_file())


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "data" / "mirror.git", timeout=60)


def test_a_clone_is_whole_and_follows_its_source(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    first = bare.commit({"a.py": "x = 1\n"})
    said: list[str] = []
    head = mirror.sync(Repository("n", str(bare.path)), said.append)
    assert (head.commit, head.branch) == (first, "main")
    assert head.committed_at.isoformat() == "2023-11-14T22:14:20+00:00"
    second = bare.commit({"b.py": "y = 1\n"})
    bare.commit({"c.py": "z = 1\n"}, branch="side/way")
    assert mirror.sync(Repository("n", str(bare.path))).commit == second
    assert paths(mirror, second) == ["a.py", "b.py"]
    assert paths(mirror, mirror.head("side/way").commit) == ["c.py"]
    assert mirror.commits_behind(first, second) == 1
    assert sorted(entry.name for entry in (tmp_path / "data").iterdir()) == ["mirror.git", "mirror.git.lock"]
    assert not (tmp_path / "data" / "mirror.git" / "hooks").exists()
    assert said == [] or all(line.isprintable() for line in said)


def test_the_newest_commit_is_asked_for_without_fetching(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    first = bare.commit({"a.py": "x = 1\n"})
    side = bare.commit({"b.py": "y = 1\n"}, branch="side/way")
    other = bare.commit({"c.py": "z = 1\n"}, branch="way")
    whole, only = Repository("n", str(bare.path)), Repository("n", str(bare.path), branch="side/way")
    assert [mirror.newest(whole), mirror.newest(only), mirror.newest(Repository("n", str(bare.path), branch="way"))] == [first, side, other]
    assert not (tmp_path / "data").exists()
    assert mirror.sync(whole).commit == first
    before = everything_below(tmp_path / "data")
    second = bare.commit({"a.py": "x = 2\n"})
    assert mirror.newest(whole) == second
    assert mirror.newest(only) == side
    assert everything_below(tmp_path / "data") == before
    assert mirror.head().commit == first
    bare.git("symbolic-ref", "HEAD", "refs/heads/nowhere")
    assert mirror.newest(whole) == mirror.sync(whole).commit == second
    with pytest.raises(BranchNotFound, match="no branch 'sideway'"):
        mirror.newest(Repository("n", str(bare.path), branch="sideway"))
    for refused in ("ext::sh -c id", "--upload-pack=id", "https://127.0.0.1/x.git", "http://example.org/x.git"):
        with pytest.raises(SourceRefused):
            mirror.newest(Repository("n", refused))


def test_the_newest_commit_of_a_detached_head_and_of_nothing(make: Callable[[str], Bare], mirror: Mirror, tmp_path: Path) -> None:
    with pytest.raises(EmptyRepository):
        mirror.newest(Repository("n", str(make("empty.git").path)))
    bare = make("full.git")
    bare.commit({"a.py": "x = 1\n"})
    git("clone", "-q", bare.path, tmp_path / "source")
    git("checkout", "-q", "--detach", cwd=tmp_path / "source")
    git("commit", "-q", "--allow-empty", "-m", "m", cwd=tmp_path / "source")
    assert mirror.newest(Repository("n", str(tmp_path / "source"))) == git("rev-parse", "HEAD", cwd=tmp_path / "source")


@pytest.mark.parametrize("kind", ["clone", "worktree", "shallow", "detached"])
def test_any_local_form_of_a_repository_can_be_mirrored(kind: str, bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    bare.commit({"a.py": "x = 1\n"})
    newest = bare.commit({"a.py": "x = 2\n"})
    source = tmp_path / "source"
    if kind == "shallow":
        git("clone", "-q", "--depth", "1", f"file://{bare.path}", source)
    else:
        git("clone", "-q", bare.path, source)
    if kind == "worktree":
        git("worktree", "add", "-q", "-b", "topic", tmp_path / "tree", cwd=source)
        git("commit", "-q", "--allow-empty", "-m", "m", cwd=tmp_path / "tree")
        newest = git("rev-parse", "HEAD", cwd=tmp_path / "tree")
        source = tmp_path / "tree"
    if kind == "detached":
        git("checkout", "-q", "--detach", cwd=source)
        git("commit", "-q", "--allow-empty", "-m", "m", cwd=source)
        newest = git("rev-parse", "HEAD", cwd=source)
    for _ in range(2):
        head = mirror.sync(Repository("n", str(source)))
        assert head.commit == newest
        assert head.branch == {"worktree": "topic", "detached": ""}.get(kind, "main")
        assert paths(mirror, head.commit) == ["a.py"]


def test_a_renamed_default_branch_and_a_forced_push_are_followed_and_old_commits_stay(bare: Bare, mirror: Mirror) -> None:
    repository = Repository("n", str(bare.path))
    old = bare.commit({"old.py": "x = 1\n"})
    mirror.sync(repository)
    bare.git("branch", "-m", "main", "trunk")
    forced = bare.commit({"new.py": "y = 1\n"}, branch="trunk", orphan=True)
    head = mirror.sync(repository)
    assert (head.commit, head.branch) == (forced, "trunk")
    bare.git("gc", "-q", "--prune=now")
    mirror.sync(repository)
    git(f"--git-dir={mirror._directory}", "gc", "-q", "--prune=now")
    assert mirror.document(old, "old.py").text == "x = 1\n"
    with pytest.raises(BranchNotFound):
        mirror.head("main")
    # A directory of branches may take the place of a branch.
    bare.git("branch", "-m", "trunk", "trunk/one")
    bare.git("symbolic-ref", "HEAD", "refs/heads/trunk/one")
    assert mirror.sync(repository).branch == "trunk/one"


def test_a_repository_with_longer_ids(mirror: Mirror, tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", "--object-format=sha256", tmp_path / "long.git")
    tree = git(f"--git-dir={tmp_path / 'long.git'}", "mktree")
    commit = git(f"--git-dir={tmp_path / 'long.git'}", "commit-tree", tree, "-m", "m")
    git(f"--git-dir={tmp_path / 'long.git'}", "update-ref", "refs/heads/main", commit)
    assert len(commit) == 64
    assert mirror.sync(Repository("n", str(tmp_path / "long.git"))).commit == commit


def test_the_wanted_branch_is_read_and_a_missing_one_names_the_nearest(bare: Bare, mirror: Mirror) -> None:
    bare.commit({"a.py": "x"})
    other = bare.commit({"b.py": "x"}, branch="release-1.x")
    assert mirror.sync(Repository("n", str(bare.path), branch="release-1.x")).commit == other
    with pytest.raises(BranchNotFound) as error:
        mirror.sync(Repository("n", str(bare.path), branch="release-2.x"))
    assert "release-1.x" in error.value.remedy
    for odd in ("-x", "--all", "main~1", "main:a.py", "main@{0}", "refs/heads/main", "ma*", "a\nb"):
        with pytest.raises(BranchNotFound):
            mirror.head(odd)


def test_an_empty_repository_and_a_default_branch_that_is_gone(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    with pytest.raises(EmptyRepository):
        mirror.sync(Repository("n", str(bare.path)))
    with pytest.raises(SourceNotFound):
        mirror.head()
    commit = bare.commit({"a.py": "x"}, branch="develop")
    assert mirror.sync(Repository("n", str(bare.path))).commit == commit
    with pytest.raises(BranchNotFound, match="main"):
        Mirror.existing(bare.path).head()


def test_a_commit_without_files_has_no_documents(bare: Bare, mirror: Mirror) -> None:
    bare.commit({"a.py": "x"})
    bare.commit({"a.py": None})
    head = mirror.sync(Repository("n", str(bare.path)))
    assert list(mirror.documents(head.commit)) == []


def test_a_clone_that_fails_leaves_nothing(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    bare.commit({f"{n}.py": f"x = {n}\n" for n in range(50)})
    lost = bare.git("rev-parse", "main:3.py")
    (bare.path / "objects" / lost[:2] / lost[2:]).unlink()
    (bare.path / "objects" / "info" / "alternates").write_text("")  # objects that are borrowed are fetched, not linked
    with pytest.raises(CloneFailed) as error:
        mirror.sync(Repository("n", str(bare.path)))
    assert "git fsck" in error.value.remedy
    assert [entry.name for entry in (tmp_path / "data").iterdir()] == ["mirror.git.lock"]


def test_objects_are_linked_and_one_that_is_lost_is_counted(bare: Bare, mirror: Mirror) -> None:
    bare.commit({f"{n}.py": f"x = {n}\n" for n in range(5)})
    lost = bare.git("rev-parse", "main:3.py")
    (bare.path / "objects" / lost[:2] / lost[2:]).unlink()
    head = mirror.sync(Repository("n", str(bare.path)))
    assert [item for item in mirror.documents(head.commit) if not isinstance(item, Document)] == [Skipped("3.py", "missing")]
    tree = bare.git("rev-parse", "main^{tree}")
    assert (mirror._directory / "objects" / tree[:2] / tree[2:]).stat().st_nlink == 2
    assert "origin" not in (mirror._directory / "config").read_text()


def test_a_link_among_the_objects_is_not_followed(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    bare.commit({"a.py": "x = 1\n"})
    (tmp_path / "outside").write_text("canary")
    (bare.path / "objects" / "info" / "link").symlink_to(tmp_path / "outside")
    mirror.sync(Repository("n", str(bare.path)))
    assert b"canary" not in everything_below(tmp_path / "data")


def test_a_fetch_that_fails_leaves_what_was_there(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    first = bare.commit({"a.py": "x = 1\n"})
    mirror.sync(Repository("n", str(bare.path)))
    bare.path.rename(tmp_path / "away")
    with pytest.raises(SourceNotFound):
        mirror.sync(Repository("n", str(bare.path)))
    assert paths(mirror, mirror.head().commit) == ["a.py"]
    assert mirror.head().commit == first


def test_what_killed_processes_left_does_not_stand_in_the_way(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    repository = Repository("n", str(bare.path))
    bare.commit({"a.py": "x = 1\n"})
    mirror.sync(repository)
    place = mirror._directory
    for name in ("packed-refs.lock", "HEAD.lock", "shallow.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("")
    (tmp_path / "data" / "mirror.git.partial-0000").mkdir()
    commit = bare.commit({"a.py": "x = 2\n"})
    assert mirror.sync(repository).commit == commit
    assert not list(place.rglob("*.lock"))
    assert not (tmp_path / "data" / "mirror.git.partial-0000").exists()


@pytest.mark.parametrize("damage", ["pack", "head", "all"])
def test_a_damaged_mirror_is_cloned_again(damage: str, bare: Bare, mirror: Mirror) -> None:
    repository = Repository("n", str(bare.path))
    bare.commit({f"{n}.py": f"x = {n}\n" * n for n in range(200)})
    mirror.sync(repository)
    if damage == "pack":
        for pack in mirror._directory.glob("objects/pack/*"):
            pack.unlink()  # may be a hard link to the source's own
            pack.write_bytes(b"")
    elif damage == "head":
        (mirror._directory / "HEAD").unlink()
    else:
        shutil.rmtree(mirror._directory / "objects")
    commit = bare.commit({"0.py": "y = 1\n"})
    assert mirror.sync(repository).commit == commit
    assert len(paths(mirror, commit)) == 200


def test_two_processes_may_synchronise_at_once(bare: Bare, mirror: Mirror) -> None:
    commit = bare.commit({f"{n}.py": f"x = {n}\n" for n in range(100)})
    heads: list[str] = []
    threads = [threading.Thread(target=lambda: heads.append(mirror.sync(Repository("n", str(bare.path))).commit)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert heads == [commit] * 4


def test_hooks_and_configuration_of_the_source_start_nothing(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    bare.commit(
        {
            "a.py": "x = 1\n",
            ".gitattributes": "*.py filter=evil diff=evil\n",
            ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::touch y\n',
        }
    )
    clone = tmp_path / "clone"
    git("clone", "-q", bare.path, clone)
    trap = tmp_path / "trap"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    script.chmod(0o755)
    for hook in ("post-checkout", "reference-transaction", "pre-receive", "post-upload-pack", "post-index-change"):
        shutil.copy(script, clone / ".git" / "hooks" / hook)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "gpg.program",
        "credential.helper",
    ):
        git("config", key, script, cwd=clone)
    git("config", "log.showSignature", "true", cwd=clone)
    assert not trap.exists()
    mirror.sync(Repository("n", str(clone)))
    mirror.sync(Repository("n", str(clone)))
    existing = Mirror.existing(clone)
    commit = existing.head().commit
    assert "a.py" in paths(existing, commit)
    existing.document(commit, "a.py")
    existing.commits_behind(commit, commit)
    assert not trap.exists()


def test_a_partial_clone_is_told_and_never_fetches_what_it_lacks(bare: Bare, mirror: Mirror, tmp_path: Path) -> None:
    commit = bare.commit({"a.py": "x = 1\n"})
    bare.git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{bare.path}", tmp_path / "partial")
    with pytest.raises(SourceError, match="partial"):
        list(Mirror.existing(tmp_path / "partial").documents(commit))
    with pytest.raises(CloneFailed, match="is a partial clone") as caught:
        mirror.sync(Repository("n", str(tmp_path / "partial")))
    assert "without --filter" in caught.value.remedy


# --- over https -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a `git` before the real one that writes down its arguments and its process group."""
    real = shutil.which("git")
    log = tmp_path / "arguments"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$$" "$@" >> {log}\nexec {real} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    return log


@pytest.fixture
def server(bare: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpsServer]:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with HttpsServer(tmp_path, "x-access-token", TOKEN) as running:
        monkeypatch.setenv("GIT_SSL_CAINFO", str(running.certificate))
        yield running


def _private(directory: Path, token: str = TOKEN, timeout: float = 30) -> Mirror:
    return Mirror(directory / "data" / "mirror.git", token=token, timeout=timeout, private_hosts=("localhost",))


def test_the_token_goes_to_the_server_and_nowhere_else(
    bare: Bare, server: HttpsServer, recorded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.setenv("GIT_CURL_VERBOSE", "1")
    caplog.set_level(logging.DEBUG)
    commit = bare.commit({"a.py": "x = 1\n"})
    bare.git("update-server-info")
    said: list[str] = []
    head = _private(tmp_path).sync(Repository("n", f"{server.url}/origin.git"), said.append)
    assert (head.commit, head.branch) == (commit, "main")
    assert any(authorization == server.expected for _, authorization in server.requests)
    assert recorded.read_text().count("--\n" + server.url) >= 2
    assert TOKEN not in recorded.read_text() + caplog.text + "".join(said)
    assert TOKEN.encode() not in everything_below(tmp_path / "data")


def test_a_wrong_token_is_told_without_being_shown(bare: Bare, server: HttpsServer, tmp_path: Path) -> None:
    bare.commit({"a.py": "x = 1\n"})
    bare.git("update-server-info")
    wrong = "wrongcanary0123456789"
    for token in (wrong, ""):
        with pytest.raises(CloneFailed, match="may not be read") as error:
            _private(tmp_path, token).sync(Repository("n", f"{server.url}/origin.git"))
        assert wrong not in str(error.value)
        assert "token" in error.value.remedy
    assert [entry.name for entry in (tmp_path / "data").iterdir()] == ["mirror.git.lock"]


def test_the_token_is_not_sent_where_a_redirect_points(bare: Bare, server: HttpsServer, tmp_path: Path) -> None:
    server.status, server.location = 302, "https://localhost:1/elsewhere.git/info/refs"
    with pytest.raises(CloneFailed, match="redirects"):
        _private(tmp_path).sync(Repository("n", f"{server.url}/origin.git"))
    assert {path for path, _ in server.requests} == {"/origin.git/info/refs"}


def test_a_look_for_the_newest_commit_is_as_careful_as_a_clone(
    bare: Bare, server: HttpsServer, recorded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    commit = bare.commit({"a.py": "x = 1\n"})
    bare.git("update-server-info")
    repository = Repository("n", f"{server.url}/origin.git")
    assert _private(tmp_path).newest(repository) == commit
    assert any(authorization == server.expected for _, authorization in server.requests)
    assert TOKEN not in recorded.read_text() + caplog.text
    with pytest.raises(CloneFailed, match="may not be read"):
        _private(tmp_path, "wrongcanary0123456789").newest(repository)
    with pytest.raises(SourceNotFound, match="does not lead to a repository"):
        _private(tmp_path).newest(Repository("n", f"{server.url}/absent.git"))
    before = len(server.requests)
    with pytest.raises(SourceRefused):
        Mirror(tmp_path / "m.git").newest(repository)
    assert len(server.requests) == before
    server.status, server.location = 302, "https://localhost:1/elsewhere.git/info/refs"
    with pytest.raises(CloneFailed, match="redirects"):
        _private(tmp_path).newest(repository)
    assert not (tmp_path / "data").exists()


def test_an_absent_repository_and_a_host_inside_the_network(bare: Bare, server: HttpsServer, tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match="does not lead to a repository"):
        _private(tmp_path).sync(Repository("n", f"{server.url}/absent.git"))
    before = len(server.requests)
    with pytest.raises(SourceRefused):
        Mirror(tmp_path / "m.git").sync(Repository("n", f"{server.url}/origin.git"))
    assert len(server.requests) == before


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server that accepts and says nothing."""
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listening:
        yield f"https://localhost:{listening.getsockname()[1]}/o/n.git"


def _groups(log: Path) -> set[int]:
    return {int(line) for line in log.read_text().splitlines() if line.isdigit()}


def _alive(groups: set[int]) -> list[int]:
    found = []
    for pid in psutil.pids():
        try:
            if os.getpgid(pid) in groups and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def test_a_clone_that_hangs_is_killed_with_all_that_it_started(silent: str, recorded: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(CloneFailed, match="in time"):
        _private(tmp_path, timeout=1.5).sync(Repository("n", silent))
    assert time.monotonic() - started < 10
    assert _groups(recorded)
    while _alive(_groups(recorded)) and time.monotonic() - started < 5:
        time.sleep(0.02)  # killed, but not yet gone
    assert _alive(_groups(recorded)) == []
    assert [entry.name for entry in (tmp_path / "data").iterdir()] == ["mirror.git.lock"]


def test_after_a_kill_in_the_middle_of_a_clone_the_next_one_succeeds(bare: Bare, recorded: Path, tmp_path: Path) -> None:
    """The builder dies at once, its git some time later or at once: either way nothing half is left under the name."""
    commit = bare.commit({f"{n}.py": os.urandom(3000).hex("\n", 30) for n in range(400)})
    program = "import sys\nfrom pathlib import Path\nfrom rag.source.mirror import Mirror\nfrom rag.types import Repository\n"
    program += "print('go', flush=True)\nMirror(Path(sys.argv[1])).sync(Repository('n', sys.argv[2]))\n"
    place = tmp_path / "data" / "mirror.git"
    for delay in (0.02, 0.06, 0.12, 0.2):
        child = subprocess.Popen([sys.executable, "-c", program, str(place), str(bare.path)], stdout=subprocess.PIPE)
        assert child.stdout
        child.stdout.readline()
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait(10)
        child.stdout.close()
        if place.exists():
            assert Mirror(place).resolve(commit) == commit
    mirror = Mirror(place, timeout=60)
    assert mirror.sync(Repository("n", str(bare.path))).commit == commit
    assert len(paths(mirror, commit)) == 400
    assert sorted(entry.name for entry in place.parent.iterdir()) == ["mirror.git", "mirror.git.lock"]


def test_a_mirror_that_is_only_read_is_never_fetched_into(bare: Bare, make: Callable[[str], Bare]) -> None:
    bare.commit({"a.py": "x"})
    with pytest.raises(SourceError, match="only read"):
        Mirror.existing(bare.path).sync(Repository("n", str(bare.path)))
