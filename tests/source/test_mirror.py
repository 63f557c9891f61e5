"""Reading commits: names, modes, encodings, attributes, limits."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.errors import EmptyRepository, SourceNotFound
from rag.source.mirror import Mirror, Skipped, SourceLimits
from rag.types import Document
from tests.source.repositories import Bare, git

KEY = "ghp_" + "a1B2" * 9


def read(bare: Bare, commit: str, **options: object) -> dict[str, str | Document]:
    found = Mirror.existing(bare.path).documents(commit, **options)  # type: ignore[arg-type]
    return {item.path: item.reason if isinstance(item, Skipped) else item for item in found}


def test_every_file_comes_once_as_a_document_or_with_a_reason(bare: Bare) -> None:
    outside = "a" * 40
    commit = bare.commit(
        {
            "a.py": "x = 1\r\ny = 2\r\n",
            "bin/run": "#!/usr/bin/env ruby\nputs 1\n",
            "leak.py": "/etc/passwd",
            "../a.py".replace("../", "up/"): "x = 1\n",
            "sub": outside,
            "utf16.txt": b"\xff\xfe" + "ñandú\n".encode("utf-16-le"),
            "latin.py": "# naïve\n".encode("latin-1"),
            "nul.bin2": b"a\0b\0",
            "big.py": b"x = 1\n" * 200_000,
            "lfs.model": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            ".env": f"KEY={KEY}\n",
            "conf.py": f"KEY = '{KEY}'\nOTHER = 1\n",
            "empty.py": "",
        },
        modes={"leak.py": "120000", "sub": "160000", "bin/run": "100755"},
    )
    found = read(bare, commit)
    assert {path: reason for path, reason in found.items() if isinstance(reason, str)} == {
        "leak.py": "symlink",
        "sub": "submodule",
        "nul.bin2": "binary",
        "big.py": "too large",
        "lfs.model": "lfs pointer",
        ".env": "secrets",
        "empty.py": "empty",
    }
    documents = {path: item for path, item in found.items() if isinstance(item, Document)}
    assert documents["a.py"].text == "x = 1\ny = 2\n"
    assert documents["a.py"].blob == bare.git("rev-parse", f"{commit}:a.py")
    assert documents["bin/run"].language == "ruby"
    assert documents["utf16.txt"].text == "ñandú\n"
    assert documents["latin.py"].text == "# naïve\n"
    assert documents["conf.py"].text == "KEY = '[redacted:github-token]'\nOTHER = 1\n"
    assert documents["conf.py"].redactions == 1


NAMES = [
    b"with space.py",
    b'quo"te.py',
    b"new\nline.py",
    b"tab\t.py",
    b"back\\slash.py",
    b"caf\xe9.py",
    "ünï.py".encode(),
    b"A.py",
    b"a.py",
    b"-x.py",
    b":(top)x.py",
    b"*.py",
]


def test_any_name_is_read_and_found_again(bare: Bare) -> None:
    commit = bare.commit({name: b"name = %r\n" % name for name in NAMES})
    found = read(bare, commit)
    assert set(found) == {name.decode("utf-8", "backslashreplace") for name in NAMES}
    mirror = Mirror.existing(bare.path)
    for name in NAMES:
        path = name.decode("utf-8", "backslashreplace")
        document = mirror.document(commit, path)
        assert document == found[path]
        assert document.text == f"name = {name!r}\n"
        json.dumps(path).encode()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.binary(min_size=1, max_size=12).filter(
            lambda n: not {b"/", b"\0"} & {n[i : i + 1] for i in range(len(n))} and n.lower() not in (b".", b"..", b".git")
        ),
        st.binary(max_size=30),
        max_size=6,
    )
)
def test_contents_belong_to_their_names(tmp_path_factory: pytest.TempPathFactory, files: dict[bytes, bytes]) -> None:
    bare = Bare(tmp_path_factory.mktemp("names") / "r.git")
    commit = bare.commit({**{b"d/" + name: content for name, content in files.items()}, b"z.py": b"z\n"})
    found = list(Mirror.existing(bare.path).documents(commit))
    assert len(found) == len(files) + 1
    for item in found:
        if isinstance(item, Document) and item.path != "z.py":
            content = next(c for name, c in files.items() if name.decode("utf-8", "backslashreplace") == item.path[2:])
            assert item.blob == hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            assert item.text


@pytest.mark.parametrize(
    "path", ["", "/", "absent.py", "d", "d/", "../a.py", "/a.py", "a.py/", "link.py", ".env", "x.bin2", "a\0b", "\udcff", "sub"]
)
def test_what_cannot_be_shown_is_not_found(path: str, bare: Bare) -> None:
    commit = bare.commit(
        {"a.py": "x", "d/b.py": "x", "link.py": "/etc/passwd", ".env": "A=1", "x.bin2": b"\0\0", "sub": "b" * 40},
        modes={"link.py": "120000", "sub": "160000"},
    )
    mirror = Mirror.existing(bare.path)
    assert mirror.document(commit, "d/b.py").text == "x"
    with pytest.raises(SourceNotFound):
        mirror.document(commit, path)


def test_a_root_restricts_what_is_read_and_paths_stay(bare: Bare) -> None:
    commit = bare.commit(
        {"src/a.py": "x\n", "src/gen/b.py": "y\n", "srcother/c.py": "z\n", ".gitattributes": "src/gen/** linguist-generated\n"}
    )
    found = read(bare, commit, root="src")
    assert set(found) == {"src/a.py", "src/gen/b.py"}
    assert found["src/gen/b.py"] == "generated"
    assert set(read(bare, commit, root="src/")) == set(found)
    assert len(read(bare, commit, root=".")) == 4
    for absent in ("absent", "sr", "src/a.py"):
        with pytest.raises(SourceNotFound, match=absent):
            read(bare, commit, root=absent)


def test_gitattributes_are_read_as_git_reads_them(bare: Bare) -> None:
    commit = bare.commit(
        {
            ".gitattributes": "*.gen.py linguist-generated\nold/** linguist-vendored=true\nvendor/** -linguist-vendored\n",
            "sub/.gitattributes": "*.gen.py linguist-generated=false\n",
            "a.gen.py": "x\n",
            "sub/a.gen.py": "x\n",
            "old/deep/a.py": "x\n",
            "vendor/ours.py": "x\n",
        }
    )
    found = read(bare, commit)
    assert (found["a.gen.py"], found["old/deep/a.py"]) == ("generated", "vendored")
    assert isinstance(found["sub/a.gen.py"], Document)
    assert isinstance(found["vendor/ours.py"], Document)
    assert not (bare.path / "index").exists()


def test_globs_and_limits_are_counted(bare: Bare) -> None:
    commit = bare.commit({**{f"d/{n:02}.py": "x = 1\n" for n in range(10)}, "e.py": "x = 1\n"})
    reasons = Counter(
        item
        for item in read(bare, commit, include=["d/"], exclude=["*0.py"], limits=SourceLimits(max_files=4)).values()
        if isinstance(item, str)
    )
    assert reasons == {"not included": 1, "excluded": 1, "too many files": 5}
    reasons = Counter(item for item in read(bare, commit, limits=SourceLimits(max_total_bytes=20)).values() if isinstance(item, str))
    assert reasons == {"too many files": 8}


def test_one_process_reads_all_contents(bare: Bare, processes: list[str]) -> None:
    commit = bare.commit({f"{n}.py": f"x = {n}\n" for n in range(1500)})
    mirror = Mirror.existing(bare.path)
    processes.clear()
    started = time.perf_counter()
    found = [item for item in mirror.documents(commit) if isinstance(item, Document)]
    assert len(found) == 1500
    assert {item.path: item.text for item in found}["1234.py"] == "x = 1234\n"
    assert processes.count("subprocess.Popen") <= 4
    assert time.perf_counter() - started < 20


def test_a_reader_that_stops_early_leaves_no_process(bare: Bare) -> None:
    import psutil

    commit = bare.commit({f"{n}.py": "x = 1\n" * 1000 for n in range(600)})
    before = set(psutil.Process().children(recursive=True))
    stream = Mirror.existing(bare.path).documents(commit)
    next(stream)
    assert set(psutil.Process().children(recursive=True)) - before
    stream.close()  # type: ignore[attr-defined]
    assert not set(psutil.Process().children(recursive=True)) - before


def test_revisions_are_resolved_to_full_ids(bare: Bare) -> None:
    first = bare.commit({"a.py": "x"})
    second = bare.commit({"a.py": "y"})
    bare.git("tag", "-a", "v1.0", "-m", "m", first)
    mirror = Mirror.existing(bare.path)
    assert mirror.resolve("main") == mirror.resolve("HEAD") == mirror.resolve(second[:10]) == second
    assert mirror.resolve("v1.0") == mirror.resolve("main~1") == mirror.resolve(first) == first
    for odd in ("", "absent", "-h", "--help", "main:a.py", "main..v1.0", "main@{0}", "0" * 40, "a b", f"{second}^{{tree}}"):
        with pytest.raises(SourceNotFound):
            mirror.resolve(odd)
    assert mirror.commits_behind(first, second) == 1
    assert mirror.commits_behind(second, first) == 0
    with pytest.raises(SourceNotFound):
        mirror.commits_behind("0" * 40, second)
    assert mirror.document(first[:12], "a.py").text == "x"


@pytest.mark.parametrize("form", ["bare", "clone", "worktree"])
def test_an_existing_clone_is_read_without_being_touched(form: str, bare: Bare, tmp_path: Path) -> None:
    commit = bare.commit({"a.py": "x = 1\n"})
    place = bare.path
    if form != "bare":
        git("clone", "-q", bare.path, tmp_path / "clone")
        place = tmp_path / "clone"
        (place / "uncommitted.py").write_text("y")
    if form == "worktree":
        git("worktree", "add", "-q", "--detach", tmp_path / "tree", cwd=place)
        place = tmp_path / "tree"
    before = {file: file.stat().st_mtime_ns for file in place.rglob("*")}
    mirror = Mirror.existing(place)
    head = mirror.head()
    assert (head.commit, head.branch) == (commit, "" if form == "worktree" else "main")
    assert [item.path for item in mirror.documents(head.commit)] == ["a.py"]
    assert mirror.head("main").commit == commit
    assert {file: file.stat().st_mtime_ns for file in place.rglob("*")} == before


def test_a_place_without_a_repository_or_without_a_commit(tmp_path: Path, bare: Bare) -> None:
    with pytest.raises(SourceNotFound):
        Mirror.existing(tmp_path)
    with pytest.raises(SourceNotFound):
        Mirror.existing(tmp_path / "absent")
    with pytest.raises(SourceNotFound, match="no mirror"):
        Mirror(tmp_path / "absent").head()
    with pytest.raises(EmptyRepository):
        Mirror.existing(bare.path).head()


def test_hostile_files_are_read_or_counted_in_bounded_time(bare: Bare) -> None:
    commit = bare.commit(
        {
            "nested.py": "(" * 20_000 + ")" * 20_000,
            "line.py": "x = '" + "a" * 900_000 + "'\n",
            "line.js": "a" * 900_000,
            "lines.py": "\n" * 900_000 + "x\n",
            "keys.py": "-----BEGIN RSA PRIVATE KEY-----\n" * 25_000,
            "urls.py": "://a:" * 150_000,
            "tokens.py": "ghp_" * 200_000,
        }
    )
    started = time.perf_counter()
    found = read(bare, commit)
    assert len(found) == 7
    assert found["line.js"] == "minified"
    assert isinstance(found["nested.py"], Document)
    assert time.perf_counter() - started < 30
