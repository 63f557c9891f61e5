"""Builds, in this process: what they publish and when, what they reuse, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import BranchNotFound, BuildFailed, BuildRunning, EmptyRepository, SourceNotFound
from rag.index.builder import build
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import RepositoryIndex, repository_directory
from rag.index.jobs import BuildEvent, BuildJob, BuildReport, job_from_json, job_to_json
from rag.index.locks import build_lock
from rag.types import Repository
from tests.index.fixtures import SAMPLE_FILES, commit_files, data_directory, git, make_repository


class Room:
    """A source, a data directory, and builds of the one into the other."""

    def __init__(self, source: Path, data_dir: Path) -> None:
        self.source = source
        self.job = BuildJob(repository=Repository("larder", str(source)), data_dir=data_dir, threads=1)
        self.index = RepositoryIndex(repository_directory(data_dir, "larder"), EdgeBackend(), describe(EmbeddingSettings()))
        self.events: list[BuildEvent] = []

    def build(self, watch: Callable[[BuildEvent], None] = lambda event: None, **changes: object) -> BuildReport:
        def on_event(event: BuildEvent) -> None:
            self.events.append(event)
            watch(event)

        self.events = []
        return build(replace(self.job, **changes), on_event)  # type: ignore[arg-type]

    def paths(self) -> set[str]:
        with self.index.open() as generation:
            return set(generation.chunks.paths)

    def generations(self) -> list[str]:
        return sorted(path.name for path in self.index.layout.generations.iterdir())

    def stages(self) -> list[str]:
        return list(dict.fromkeys(event.stage for event in self.events))


@pytest.fixture
def room(tmp_path: Path, models_directory: Path) -> Room:
    return Room(make_repository(tmp_path / "source"), data_directory(tmp_path / "data", models_directory))


def test_a_first_build_answers_before_it_embeds(room: Room) -> None:
    seen: list[tuple[str, bool]] = []

    def watch(event: BuildEvent) -> None:
        if event.stage in {"sparse", "sparse_ready", "embed", "dense", "publish"}:
            info = room.index.info()
            seen.append((event.stage, info is not None))
            if event.stage == "embed":
                with room.index.open() as generation:
                    assert generation.dense is None
                    assert generation.sparse.search(["locker"], 5)

    report = room.build(watch)
    assert room.stages() == ["clone", "read", "chunk", "sparse", "sparse_ready", "embed", "dense", "history", "publish"]
    assert {found for stage, found in seen if stage == "sparse"} == {False}
    assert all(found for stage, found in seen if stage != "sparse")
    assert report.commit == git(room.source, "rev-parse", "HEAD")
    assert (report.branch, report.documents, report.unchanged) == ("main", 7, False)
    assert report.embedded == report.chunks > 7
    assert report.reused == 0
    assert set(report.seconds) == {"clone", "read", "chunk", "sparse", "model", "embed", "dense", "history", "publish", "total"}
    assert sum(taken for stage, taken in report.seconds.items() if stage != "total") <= report.seconds["total"] + 0.01
    assert report.peak_memory_bytes > 50_000_000


def test_what_has_not_changed_is_not_built_unless_forced(room: Room) -> None:
    first = room.build()
    again = room.build()
    assert again.unchanged
    assert (again.generation, again.chunks, again.embedded) == (first.generation, first.chunks, 0)
    assert set(again.seconds) <= {"clone", "total"}
    assert "sparse" not in room.stages()
    forced = room.build(force=True)
    assert not forced.unchanged
    assert forced.generation > first.generation
    assert (forced.embedded, forced.reused) == (0, first.chunks)


def test_a_rebuild_embeds_what_changed_and_swaps_when_whole(room: Room) -> None:
    first = room.build()
    commit_files(
        room.source, {"larder/expiry.py": SAMPLE_FILES["larder/expiry.py"].replace("MAX_AGE", "LONGEST_STAY"), "gate/retry.go": None}
    )

    def watch(event: BuildEvent) -> None:
        info = room.index.info()
        assert info is not None
        assert info.dense_ready
        if event.stage != "publish":
            assert info.generation == first.generation

    second = room.build(watch)
    assert "sparse_ready" not in room.stages()
    assert 0 < second.embedded < second.chunks
    assert second.embedded + second.reused == second.chunks
    assert "gate/retry.go" not in room.paths()
    with room.index.open() as incremental:
        assert incremental.info.commit == second.commit
        texts = [chunk.text for chunk in incremental.chunks.all()]
        assert any("LONGEST_STAY" in text for text in texts)
        assert not any("MAX_AGE" in text for text in texts)
    # The same chunks and vectors as a build from nothing.
    (room.job.data_dir / "embeddings.sqlite").unlink()
    whole = room.build(force=True)
    assert whole.embedded == whole.chunks
    with room.index.open() as anew:
        assert list(anew.chunks.all()) == list(incremental.chunks.all())
        assert anew.vectors is not None
        assert incremental.vectors is not None
        np.testing.assert_allclose(anew.vectors, incremental.vectors, atol=0.02)
    assert room.generations() == [second.generation, whole.generation]


def test_nothing_is_embedded_twice_across_commits_branches_and_repositories(room: Room, tmp_path: Path) -> None:
    first = room.build()
    git(room.source, "checkout", "--quiet", "-b", "other")
    commit_files(room.source, {"settings.toml": '[station]\nname = "south"\nsize = 36\n'})
    branch = room.build(repository=replace(room.job.repository, branch="other"))
    assert (branch.embedded, branch.reused) == (1, first.chunks - 1)
    commit_files(room.source, {"settings.toml": SAMPLE_FILES["settings.toml"]})
    back = room.build(repository=replace(room.job.repository, branch="other"))
    assert (back.unchanged, back.embedded, back.reused) == (False, 0, first.chunks)
    twin = room.build(repository=Repository("twin", str(make_repository(tmp_path / "twin"))))
    assert (twin.embedded, twin.reused) == (0, first.chunks)


def test_globs_and_folders_choose_what_is_indexed(room: Room) -> None:
    room.build()
    narrowed = replace(room.job.repository, include=("*.py",), exclude=("larder/expiry.py",))
    report = room.build(repository=narrowed)
    assert not report.unchanged
    assert room.paths() == {"larder/__init__.py", "larder/lockers.py"}
    assert sum(report.skipped.values()) == 5
    room.build(root="web")
    assert room.paths() == {"web/notify.js"}


def test_an_older_commit_of_a_clone_that_is_only_read(room: Room) -> None:
    old = git(room.source, "rev-parse", "HEAD")
    commit_files(room.source, {"later.py": "later = 1\n"})
    report = room.build(source_git_dir=str(room.source), commit=old)
    assert report.commit == old
    assert "later.py" not in room.paths()
    assert not room.index.layout.mirror.exists()


def test_one_file_is_enough(tmp_path: Path, models_directory: Path) -> None:
    room = Room(make_repository(tmp_path / "source", {"only.py": "answer = 42\n"}), data_directory(tmp_path / "data", models_directory))
    assert room.build().chunks == 1
    with room.index.open() as generation:
        assert [chunk.path for chunk in generation.chunks.all()] == ["only.py"]
        assert [row for row, _ in generation.sparse.search(["answer"], 5)] == [0]
        assert generation.dense is not None


@pytest.mark.parametrize(
    "files", [{}, {"logo.png": b"\x89PNG\r\n\x1a\n\0\0\0"}, {"blank.py": "\n\n   \n"}], ids=["nothing", "binary", "blank"]
)
def test_nothing_to_index_is_said(tmp_path: Path, models_directory: Path, files: dict[str, str | bytes]) -> None:
    room = Room(make_repository(tmp_path / "source", files), data_directory(tmp_path / "data", models_directory))
    with pytest.raises(EmptyRepository, match="larder"):
        room.build()
    assert room.index.info() is None
    assert room.index.layout.current() is None


def test_a_source_that_is_not_there_keeps_the_former_index(room: Room) -> None:
    first = room.build()
    with pytest.raises(SourceNotFound):
        room.build(repository=replace(room.job.repository, source=str(room.source.parent / "nowhere")))
    with pytest.raises(BranchNotFound):
        room.build(repository=replace(room.job.repository, branch="absent"))
    with pytest.raises(SourceNotFound):
        room.build(commit="f" * 40)
    info = room.index.info()
    assert info is not None
    assert info.generation == first.generation


def test_a_build_that_loses_chunks_the_repository_still_has_fails(room: Room) -> None:
    first = room.build()
    # Still there, but no longer readable: what a fault of reading looks like.
    broken = dict.fromkeys(("larder/lockers.py", "larder/expiry.py", "README.md", "web/notify.js"), b"\x00\x01\x02" * 400)
    commit_files(room.source, broken)
    with pytest.raises(BuildFailed, match="lost") as caught:
        room.build()
    assert "--force" in caught.value.remedy
    assert "larder/lockers.py" in room.paths()
    assert room.generations() == [first.generation]
    assert room.build(force=True).chunks < first.chunks


def test_a_repository_that_lost_most_of_its_files_is_believed(room: Room) -> None:
    first = room.build()
    commit_files(
        room.source, {"larder/lockers.py": None, "larder/expiry.py": None, "README.md": "# Larder\n\nGone.\n", "web/notify.js": None}
    )
    assert room.build().chunks < 0.7 * first.chunks


def test_one_builder_a_repository(room: Room) -> None:
    directory = repository_directory(room.job.data_dir, "larder")
    with build_lock(directory, "larder"), pytest.raises(BuildRunning, match="larder"):
        room.build()
    assert room.build().chunks


@pytest.mark.parametrize("content", ["", "{", '{"generation": "../../etc"}', "[]", '{"generation": "20260101T000000-0123abcd-000000"}'])
def test_an_unreadable_index_is_built_anew(room: Room, content: str) -> None:
    room.build()
    (room.index.layout.directory / "current").write_text(content)
    assert not room.build().unchanged
    assert "larder/lockers.py" in room.paths()
    assert len(room.generations()) == 1


def test_an_altered_index_is_not_called_unchanged(room: Room) -> None:
    first = room.build()
    records = room.index.layout.generation(first.generation) / "sparse" / "chunks" / "records.bin"
    records.write_bytes(records.read_bytes()[:-1] + b"?")
    again = room.build()
    assert not again.unchanged
    assert "larder/lockers.py" in room.paths()


def test_a_dense_part_that_never_came_is_built(room: Room) -> None:
    class Killed(BaseException):
        pass

    def watch(event: BuildEvent) -> None:
        if event.stage == "dense":
            raise Killed

    with pytest.raises(Killed):
        room.build(watch)
    info = room.index.info()
    assert info is not None
    assert not info.dense_ready
    assert not list(room.index.layout.generations.glob("*/dense.partial"))
    report = room.build()
    assert not report.unchanged
    assert report.reused == report.chunks
    info = room.index.info()
    assert info is not None
    assert info.dense_ready


def test_another_model_is_built_beside_the_old_index_which_answers_until_it_is_whole(room: Room) -> None:
    first = room.build()
    changed = EmbeddingSettings(document_prompt="passage: ")
    by_the_new = RepositoryIndex(room.index.layout.directory, EdgeBackend(), describe(changed))
    seen = set()

    def watch(event: BuildEvent) -> None:
        info = by_the_new.info()
        assert info is not None
        if event.stage != "publish":
            seen.add(event.stage)
            assert info.generation == first.generation
            assert "was written by" in info.notices[0]
            with by_the_new.open() as generation:
                assert generation.dense is None
                assert generation.sparse.search(["locker"], 5)

    second = room.build(watch, embedding=changed)
    assert seen == {"clone", "read", "chunk", "sparse", "embed", "dense", "history"}
    assert second.embedded == second.chunks
    with by_the_new.open() as generation:
        assert generation.info.generation == second.generation
        assert generation.info.dense_ready
        assert generation.info.notices == ()
    assert room.generations() == [first.generation, second.generation]
    assert room.build(embedding=changed).unchanged
    by_the_new.close()


def test_a_killed_change_of_model_leaves_the_old_index_answering(room: Room) -> None:
    first = room.build()

    def watch(event: BuildEvent) -> None:
        if event.stage == "dense":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.build(watch, embedding=EmbeddingSettings(document_prompt="passage: "))
    info = room.index.info()
    assert info is not None
    assert (info.generation, info.dense_ready, info.notices) == (first.generation, True, ())


def test_a_damaged_index_is_replaced_while_the_one_before_it_answers(room: Room) -> None:
    first = room.build()
    commit_files(room.source, {"later.py": "later = 1\n"})
    second = room.build()
    records = room.index.layout.generation(second.generation) / "sparse" / "chunks" / "records.bin"
    records.write_bytes(records.read_bytes()[:-1] + b"?")

    def watch(event: BuildEvent) -> None:
        if event.stage != "publish":
            with room.index.open() as generation:
                assert generation.info.generation == first.generation
                assert generation.dense is not None
                assert "damaged" in generation.info.notices[0]

    third = room.build(watch)
    assert not third.unchanged
    assert "sparse_ready" not in room.stages()
    assert "later.py" in room.paths()
    with room.index.open() as generation:
        assert generation.info.notices == ()
    # What is kept beside the new one is what is whole.
    assert first.generation in room.generations()
    assert room.build().unchanged
    assert room.generations() == [first.generation, third.generation]


def test_a_job_survives_its_way_to_the_child(room: Room) -> None:
    repository = Repository("a", "b", include=("*.py",), audience=("C1",), by_hand=True)
    job = replace(room.job, repository=repository, root="x", force=True, private_hosts=("git.internal",))
    assert job_from_json(job_to_json(job)) == job
