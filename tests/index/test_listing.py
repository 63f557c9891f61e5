"""The list of every file: it adds up to what git holds, survives a build that changes nothing, and is verified."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rag.chunking.isolated import FALLBACKS, IsolatedChunker
from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import IndexCorrupt, NotIndexed
from rag.index.builder import build
from rag.index.corpus import ENTRIES
from rag.index.dense_edge import EdgeBackend
from rag.index.files import checksum
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.index.layout import Layout
from rag.index.listing import read_listing
from rag.index.manifest import read_manifest, write_manifest
from rag.source.selection import REASONS
from rag.types import Repository
from tests.index.fixtures import commit_files, data_directory, git, make_repository

FILES: dict[str, str | bytes] = {
    "keep.py": "def keep():\n    return 1\n",
    "docs/a page\twith a tab.md": "# A page\n\nText.\n",
    "naïve.py": "naive = True\n",
    "long.md": "word " * 40_000 + "\nshort\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
    "noise.py": b"\x00\x01\x02" * 400,
    "blank.py": "\n\n  \n",
    "nothing.py": "",
    "poetry.lock": "[[package]]\n",
    ".env": "TOKEN=x\n",
    "vendor/lib.py": "x = 1\n",
    "api_pb2.py": "x = 1\n",
    "app.min.js": "x=1",
    "rows.csv": "a,b\n" * 20_000,
    "left/out.py": "x = 1\n",
    "big.py": "# words\n" * 150_000,
    "pointer.bin.txt": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}


def tree(source: Path) -> list[str]:
    done = subprocess.run(["git", "-C", str(source), "ls-tree", "-r", "-z", "--name-only", "HEAD"], capture_output=True, check=True)
    return [name.decode() for name in done.stdout.split(b"\0") if name]


class Place:
    def __init__(self, source: Path, data_dir: Path) -> None:
        self.source = source
        self.job = BuildJob(Repository("odd", str(source), exclude=("left/",)), data_dir, threads=1)
        self.layout = Layout(repository_directory(data_dir, "odd"))

    def build(self) -> BuildReport:
        return build(self.job, lambda event: None)

    def entries_file(self) -> Path:
        pointer = self.layout.current()
        assert pointer is not None
        return self.layout.generation(pointer.generation) / "sparse" / ENTRIES

    def replace_entries(self, lines: str) -> None:
        """As a build that wrote them would have: with their checksum in the manifest."""
        path = self.entries_file()
        path.write_text(lines)
        manifest = read_manifest(path.parent / "manifest.json")
        files = {**manifest.files, ENTRIES: (path.stat().st_size, checksum(path))}
        write_manifest(path.parent / "manifest.json", replace(manifest, files=files))


@pytest.fixture
def place(tmp_path: Path, models_directory: Path) -> Place:
    source = make_repository(tmp_path / "odd", FILES)
    (source / "link.py").symlink_to("keep.py")
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},module")
    git(source, "add", "link.py")
    git(source, "commit", "--quiet", "-m", "A link and a submodule")
    return Place(source, data_directory(tmp_path / "data", models_directory))


def test_every_file_of_the_tree_is_listed_once_with_what_became_of_it(place: Place) -> None:
    report = place.build()
    listing = read_listing(place.layout)
    assert sorted(tree(place.source)) == [entry.path for entry in listing.entries]
    assert len(listing.entries) == report.documents + sum(report.skipped.values()) == len(FILES) + 2
    assert sum(entry.chunks for entry in listing.entries) == report.chunks
    assert listing.skipped == report.skipped
    assert set(listing.skipped) <= set(REASONS)
    assert listing.info.commit == report.commit
    assert listing.complete
    assert listing.info.dense_ready
    found = {entry.path: entry for entry in listing.entries}
    assert {path: entry.reason for path, entry in found.items() if entry.reason} == {
        "logo.png": "binary",
        "noise.py": "binary",
        "blank.py": "empty",
        "nothing.py": "empty",
        "poetry.lock": "lock file",
        ".env": "secrets",
        "vendor/lib.py": "vendored",
        "api_pb2.py": "generated",
        "app.min.js": "minified",
        "rows.csv": "data",
        "left/out.py": "excluded",
        "big.py": "too large",
        "pointer.bin.txt": "lfs pointer",
        "link.py": "symlink",
        "module": "submodule",
    }
    assert (found["keep.py"].language, found["keep.py"].chunks, found["keep.py"].fallback) == ("python", 1, "")
    assert found["long.md"].cut_lines == 1
    with RepositoryIndex(place.layout.directory, EdgeBackend(), describe(EmbeddingSettings())).open() as generation:
        in_the_index = Counter((chunk.path, chunk.language) for chunk in generation.chunks.all())
    assert in_the_index == {(entry.path, entry.language): entry.chunks for entry in listing.entries if entry.chunks}


def test_a_build_that_changes_nothing_keeps_the_list_and_a_changed_one_follows(place: Place) -> None:
    place.build()
    before = read_listing(place.layout)
    assert place.build().unchanged
    assert read_listing(place.layout) == before
    commit_files(place.source, {"keep.py": None, "new.go": "package new\n"})
    # The list is of the commit that is indexed, not of the newest.
    assert read_listing(place.layout) == before
    place.build()
    paths = {entry.path for entry in read_listing(place.layout).entries}
    assert "new.go" in paths
    assert "keep.py" not in paths


def test_a_list_that_was_altered_is_not_believed(place: Place) -> None:
    place.build()
    path = place.entries_file()
    written = path.read_text()
    path.write_text(written.replace("lock file", "lock pile"))
    with pytest.raises(IndexCorrupt, match="was altered"):
        read_listing(place.layout)
    assert not place.build().unchanged
    assert "lock file" in read_listing(place.layout).skipped
    # Well sealed, but a file short.
    place.replace_entries("".join(place.entries_file().read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(IndexCorrupt, match="does not list"):
        read_listing(place.layout)


def test_a_list_of_an_older_version_is_read_and_says_that_it_holds_less(place: Place) -> None:
    place.build()
    old = "".join(json.dumps(json.loads(line)[:5]) + "\n" for line in place.entries_file().read_text().splitlines())
    place.replace_entries(old)
    listing = read_listing(place.layout)
    assert not listing.complete
    assert len(listing.entries) == len(FILES) + 2
    # A build compares with it, and writes all.
    assert not build(replace(place.job, root="docs"), lambda event: None).unchanged
    place.build()
    assert read_listing(place.layout).complete


def test_a_file_that_outlasts_its_parser_is_named_while_the_dense_part_is_still_missing(
    tmp_path: Path, models_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def stop_early(event: BuildEvent) -> None:
        if event.stage == "sparse_ready":
            raise Killed

    files = {"slow.py": "x = [\n" + "  (a, b, c),\n" * 60_000 + "]\n", "keep.py": "def keep():\n    return 1\n"}
    place = Place(make_repository(tmp_path / "odd", files), data_directory(tmp_path / "data", models_directory))
    monkeypatch.setattr("rag.index.builder.IsolatedChunker", partial(IsolatedChunker, timeout=0.4))  # less patience, else the real thing
    with pytest.raises(Killed):
        build(place.job, stop_early)
    listing = read_listing(place.layout)
    assert not listing.info.dense_ready
    assert [(entry.path, entry.fallback) for entry in listing.entries] == [("keep.py", ""), ("slow.py", "timeout")]
    assert listing.fallbacks == {"timeout": 1}
    assert set(listing.fallbacks) <= set(FALLBACKS)


def test_what_was_never_indexed_has_no_list(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed, match="odd"):
        read_listing(Layout(tmp_path / "odd"))
