"""Reading what a build published: pins, moved pointers, mismatches, altered files."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.chunking import ChunkingSettings
from rag.errors import ConfigurationError, IndexCorrupt, IndexMismatch, NotIndexed
from rag.index.dense_client import ClientBackend
from rag.index.dense_edge import EdgeBackend
from rag.index.generation import Indexes, RepositoryIndex
from rag.index.layout import Layout, Pointer
from rag.index.manifest import read_manifest, write_manifest
from rag.index.recipe import recipe_of, scope_of
from rag.index.tokens import terms
from rag.protocols import Embedder
from tests.index.fixtures import SampleIndex


@pytest.fixture
def copied(sample_index: SampleIndex, tmp_path: Path) -> Iterator[RepositoryIndex]:
    """The session's index, to be broken."""
    source = sample_index.index.layout.directory
    directory = tmp_path / "repositories" / source.name
    shutil.copytree(source, directory)
    index = RepositoryIndex(directory, EdgeBackend(), sample_index.spec)
    yield index
    index.close()


def home(index: RepositoryIndex) -> Path:
    pointer = index.layout.current()
    assert pointer is not None
    return index.layout.generation(pointer.generation)


def twin(index: RepositoryIndex, number: int) -> str:
    """A second generation with the same content, not yet pointed at."""
    return twin_of(index, home(index).name, number)


def twin_of(index: RepositoryIndex, of: str, number: int) -> str:
    old = index.layout.generation(of)
    name = f"{old.name[:-6]}{number:06x}"
    shutil.copytree(old, index.layout.generation(name))
    manifest = read_manifest(old / "sparse" / "manifest.json")
    write_manifest(index.layout.generation(name) / "sparse" / "manifest.json", replace(manifest, generation=name))
    return name


def test_both_parts_answer_about_the_same_rows(sample_index: SampleIndex, embedder: Embedder) -> None:
    with sample_index.index.open() as generation:
        assert generation.info.dense_ready
        assert generation.dense is not None
        assert generation.vectors is not None
        assert len(generation.chunks) == len(generation.sparse) == len(generation.vectors) == generation.info.chunks
        question = "put a parcel into the first free locker"
        for found in (generation.sparse.search(terms(question), 3), generation.dense.search(embedder.embed_query(question), 3)):
            [best] = generation.chunks.get([found[0][0]])
            assert best.path == "larder/lockers.py"
        np.testing.assert_allclose(np.linalg.norm(generation.vectors, axis=1), 1, atol=1e-3)
        assert generation.info.commit == sample_index.report.commit
        assert generation.manifest.documents == 7


def test_info_needs_no_opening_and_names_come_from_the_directory(sample_index: SampleIndex) -> None:
    info = sample_index.index.info()
    assert info is not None
    assert (info.repository, info.dense_ready, info.branch) == ("larder", True, "main")
    assert sample_index.indexes.names() == ["larder"]
    assert sample_index.index.size_bytes() > 100_000
    assert sample_index.indexes.for_name("larder") is sample_index.index


def test_what_was_never_indexed_says_so(sample_index: SampleIndex) -> None:
    nobody = sample_index.indexes.for_name("nobody")
    assert nobody.info() is None
    assert nobody.size_bytes() == 0
    with pytest.raises(NotIndexed, match="nobody"), nobody.open():
        pass


@pytest.mark.parametrize("name", ["", "..", "../larder", "a/b", "a\\b", ".hidden", "nul\0"])
def test_a_name_cannot_lead_elsewhere(sample_index: SampleIndex, name: str) -> None:
    with pytest.raises(ConfigurationError):
        sample_index.indexes.for_name(name)


async def test_an_event_loop_opens_in_a_thread_and_a_cancelled_open_gives_back(copied: RepositoryIndex) -> None:
    async with copied.opened() as generation:
        assert generation.info.dense_ready
    copied.close()
    opening = asyncio.ensure_future(copied.opened().__aenter__())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    for _ in range(200):
        await asyncio.sleep(0.02)
        if copied._opened is not None and copied._opened.readers == 0:
            break
    else:
        pytest.fail("the generation is still counted as read")


def test_a_moved_pointer_is_seen_by_the_next_open_and_not_before(copied: RepositoryIndex) -> None:
    first = home(copied).name
    with copied.open() as before:
        second = twin(copied, 1)
        copied.layout.publish(second, first)
        with copied.open() as after:
            assert after.info.generation == second
        assert before.info.generation == first
        assert before.dense is not None
        assert before.chunks.get([0])[0] == after.chunks.get([0])[0]
        assert before.dense.search(np.asarray(before.vectors)[0], 1)[0][0] == 0


def test_a_dense_part_that_arrives_is_seen_by_the_next_open(copied: RepositoryIndex) -> None:
    directory = home(copied)
    (directory / "dense").rename(directory / "dense.partial")
    with copied.open() as early:
        assert (early.dense, early.info.dense_ready) == (None, False)
        (directory / "dense.partial").rename(directory / "dense")
        with copied.open() as late:
            assert late.dense is not None
            assert late.info.dense_ready
            assert late.manifest.dense is not None
        assert early.dense is None


def test_two_generations_are_kept_and_a_pinned_one_longer(copied: RepositoryIndex) -> None:
    layout = copied.layout
    first = home(copied).name
    with copied.open():
        second, third = twin(copied, 1), twin(copied, 2)
        layout.publish(third, second)
        assert layout.clean(Pointer(third, second)) == []
        assert {path.name for path in layout.generations.iterdir()} == {first, second, third}
    with copied.open() as generation:  # closes the first, which nobody reads any more
        assert generation.info.generation == third
    assert layout.clean(Pointer(third, second)) == [first]
    assert {path.name for path in layout.generations.iterdir()} == {second, third}


def test_a_pin_holds_across_processes(copied: RepositoryIndex) -> None:
    layout = copied.layout
    first = home(copied)
    second, third = twin(copied, 1), twin(copied, 2)
    layout.publish(third, second)
    code = "import sys, pathlib; from rag.index.locks import Pin; pin = Pin(pathlib.Path(sys.argv[1])); print('in', flush=True); input()"
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(first / "pin")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    try:
        assert reader.stdout.readline() == "in\n"
        assert layout.clean(Pointer(third, second)) == []
        assert first.is_dir()
    finally:
        reader.kill()
        reader.wait(timeout=10)
        reader.stdin.close()
        reader.stdout.close()
    assert layout.clean(Pointer(third, second)) == [first.name]


def test_leftovers_of_killed_builds_go_and_kept_generations_stay(copied: RepositoryIndex) -> None:
    layout = copied.layout
    current = home(copied)
    (layout.generations / f"{current.name[:-1]}x.partial" / "sparse").mkdir(parents=True)
    (layout.generations / f".trash-{current.name}").mkdir()
    (current / "dense.partial").mkdir()
    unpublished = twin(copied, 7)
    gone = layout.clean(layout.current())
    assert len(gone) == 4
    assert unpublished in gone
    assert [path.name for path in layout.generations.iterdir()] == [current.name]
    with copied.open() as generation:
        assert generation.info.dense_ready


@pytest.mark.parametrize(
    ("field", "value"),
    [("model", "another-model"), ("weights_hash", "0" * 64), ("backend", "onnx-fp32"), ("dimension", 128), ("window", 128)],
)
def test_another_model_is_read_by_words_alone_under_both_names(
    copied: RepositoryIndex, sample_index: SampleIndex, field: str, value: object
) -> None:
    other = RepositoryIndex(copied.layout.directory, EdgeBackend(), replace(sample_index.spec, **{field: value}))  # type: ignore[arg-type]
    with other.open() as generation, other.open() as again:
        assert again is generation
        assert (generation.dense, generation.vectors, generation.info.dense_ready) == (None, None, False)
        [best] = generation.chunks.get([generation.sparse.search(terms("assign_locker"), 1)[0][0]])
        assert best.path == "larder/lockers.py"
        [notice] = generation.info.notices
    for said in (notice, generation.mismatch):
        assert str(value)[:12] in said
        assert str(getattr(sample_index.spec, field))[:12] in said
    assert "footnote index larder" in notice
    assert other.info() == generation.info
    other.close()
    with copied.open() as fitting:
        assert fitting.info.dense_ready
        assert (fitting.info.notices, fitting.mismatch) == ((), "")


def test_a_models_directory_is_not_told(copied: RepositoryIndex, sample_index: SampleIndex) -> None:
    other = RepositoryIndex(copied.layout.directory, EdgeBackend(), replace(sample_index.spec, model="/home/ada/models/own-model"))
    info = other.info()
    assert info is not None
    assert "own-model" in info.notices[0]
    assert "/home/ada" not in info.notices[0]


def test_another_chunker_is_read_and_another_format_refused(copied: RepositoryIndex) -> None:
    path = home(copied) / "sparse" / "manifest.json"
    manifest = read_manifest(path)
    assert copied.fits(manifest.recipe)
    write_manifest(path, replace(manifest, chunker="0-ancient", recipe="another"))
    with copied.open() as generation:
        assert generation.info.dense_ready
        assert generation.info.notices == ()
    assert not copied.fits(manifest.recipe)
    copied.close()
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 999}))
    with pytest.raises(IndexMismatch, match="format 999"), copied.open():
        pass
    with pytest.raises(IndexMismatch):
        copied.info()
    assert not copied.fits("another")


def test_what_is_not_whole_does_not_fit(copied: RepositoryIndex, sample_index: SampleIndex) -> None:
    recipe = recipe_of(sample_index.spec, ChunkingSettings(), scope_of(sample_index.repository))
    assert copied.fits(recipe)
    assert not copied.fits(recipe_of(replace(sample_index.spec, window=99), ChunkingSettings(), scope_of(sample_index.repository)))
    assert not copied.fits(recipe_of(sample_index.spec, ChunkingSettings(), scope_of(replace(sample_index.repository, include=("*.py",)))))
    dense = home(copied) / "dense"
    os.truncate(dense / "vectors.npy", 100)
    assert not copied.fits(recipe)
    shutil.rmtree(dense)
    assert not copied.fits(recipe)
    copied.layout.withdraw()
    assert not copied.fits(recipe)


def truncated(generation: Path) -> None:
    os.truncate(generation / "dense" / "vectors.npy", 100)


def altered(generation: Path) -> None:
    """The same size, so that only a checksum tells."""
    records = generation / "sparse" / "chunks" / "records.bin"
    records.write_bytes(records.read_bytes()[:-1] + b"?")


@pytest.mark.parametrize("damage", [truncated, altered, shutil.rmtree])
def test_the_generation_before_a_damaged_one_answers_and_says_so(copied: RepositoryIndex, damage: Callable[[Path], None]) -> None:
    first, second = home(copied).name, twin(copied, 1)
    copied.layout.publish(second, first)
    damage(copied.layout.generation(second))
    if damage is not altered:
        looked = copied.info()
        assert looked is not None
        assert looked.generation == first
        assert "damaged" in looked.notices[0]
    with copied.open() as generation, copied.open() as again:
        assert again is generation  # the damage is not looked for at each question
        assert generation.info.generation == first
        assert generation.dense is not None
        [notice] = generation.info.notices
        assert "footnote index larder" in notice
        assert generation.info.commit[:12] in notice
        assert str(copied.layout.directory) not in notice
        assert copied.info() == generation.info
    third = twin_of(copied, first, 2)
    copied.layout.publish(third, first)
    with copied.open() as generation:
        assert (generation.info.generation, generation.info.notices) == (third, ())
    info = copied.info()
    assert info is not None
    assert info.notices == ()


def test_two_damaged_generations_are_corrupt(copied: RepositoryIndex) -> None:
    first, second = home(copied).name, twin(copied, 1)
    copied.layout.publish(second, first)
    for name in (first, second):
        truncated(copied.layout.generation(name))
    with pytest.raises(IndexCorrupt, match=second), copied.open():
        pass
    with pytest.raises(IndexCorrupt, match=second):
        copied.info()


def test_a_dense_part_that_arrives_damaged_is_answered_from_before(copied: RepositoryIndex) -> None:
    first, second = home(copied).name, twin(copied, 1)
    directory = copied.layout.generation(second)
    (directory / "dense").rename(directory / "dense.partial")
    copied.layout.publish(second, first)
    with copied.open() as early:
        assert early.info.generation == second
        (directory / "dense.partial").rename(directory / "dense")
        truncated(directory)
        with copied.open() as late:
            assert late.info.generation == first
            assert "damaged" in late.info.notices[0]


def files_of(index: RepositoryIndex) -> list[Path]:
    """Every file that must be as it was written: not the store, which is made anew, nor locks."""
    generation = home(index)
    sparse = [path for path in (generation / "sparse").rglob("*") if path.is_file()]
    return [
        *sorted(sparse),
        generation / "dense" / "manifest.json",
        generation / "dense" / "vectors.npy",
        index.layout.directory / "current",
    ]


def test_any_altered_truncated_or_missing_file_is_corrupt(copied: RepositoryIndex) -> None:
    files = files_of(copied)
    assert len(files) >= 10
    for path in files:
        whole = path.read_bytes()
        for broken in (whole[: len(whole) // 2], whole[:-2] + bytes([whole[-2] ^ 4]) + whole[-1:], None):
            copied.close()
            if broken is None:
                path.unlink()
            else:
                path.write_bytes(broken)
            expected = NotIndexed if broken is None and path.name == "current" else (IndexCorrupt, IndexMismatch)
            with pytest.raises(expected), copied.open():
                pytest.fail(f"{path} was not noticed")
            path.write_bytes(whole)
    with copied.open() as generation:
        assert generation.info.dense_ready


def test_a_missing_generation_is_corrupt(copied: RepositoryIndex) -> None:
    shutil.rmtree(home(copied))
    with pytest.raises(IndexCorrupt, match="missing"), copied.open():
        pass


@pytest.mark.parametrize("how", ["missing", "truncated", "other back end"])
def test_a_store_is_made_anew_from_its_vectors(copied: RepositoryIndex, sample_index: SampleIndex, how: str) -> None:
    store = home(copied) / "dense" / "qdrant-edge"
    index = copied
    if how == "missing":
        shutil.rmtree(store)
    elif how == "truncated":
        for path in store.rglob("*.mmap"):
            os.truncate(path, 100)
    else:
        index = RepositoryIndex(copied.layout.directory, ClientBackend(), sample_index.spec)
    with sample_index.index.open() as intact, index.open() as generation:
        assert generation.dense is not None
        assert generation.vectors is not None
        assert intact.dense is not None
        for vector in np.asarray(generation.vectors):
            expected, found = intact.dense.search(vector, 5), generation.dense.search(vector, 5)
            assert [row for row, _ in found] == [row for row, _ in expected]
            np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], atol=1e-5)
    index.close()


def test_removing_takes_all_of_it_while_readers_finish(copied: RepositoryIndex) -> None:
    with copied.open() as generation:
        copied.remove()
        assert not copied.layout.directory.exists()
        assert generation.dense is not None
        assert generation.vectors is not None
        assert generation.dense.search(np.asarray(generation.vectors[0]), 1)[0][0] == 0
        assert len(list(generation.chunks.all())) == generation.info.chunks
    with pytest.raises(NotIndexed), copied.open():
        pass
    copied.remove()


def test_names_are_those_with_a_pointer(tmp_path: Path, sample_index: SampleIndex) -> None:
    indexes = Indexes(tmp_path, EdgeBackend(), sample_index.spec)
    assert indexes.names() == []
    (tmp_path / "repositories" / "half" / "generations").mkdir(parents=True)
    assert indexes.names() == []
    Layout(tmp_path / "repositories" / "half").publish("20260101T000000-0123abcd-000000", "")
    assert indexes.names() == ["half"]
    indexes.close()
