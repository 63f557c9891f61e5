from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.embedding.models import EmbeddingSettings, describe, load_embedder
from rag.embedding.static_encoder import StaticEncoder
from rag.errors import ModelError
from tests.embedding.tiny_models import save_tiny_model, save_tiny_static_model

LOAD = """
import json, logging, sys
from pathlib import Path
from rag.embedding.models import EmbeddingSettings, load_embedder
logging.basicConfig(level=logging.INFO)
embedder = load_embedder(EmbeddingSettings(model=sys.argv[1], backend="static"), Path(sys.argv[2]))
heavy = [name for name in ("torch", "transformers", "sentence_transformers", "onnxruntime", "onnx") if name in sys.modules]
rows = embedder.embed_documents(["open the file", "", "loadFile"])
print(json.dumps({"heavy": heavy, "rows": rows.tolist(), "query": embedder.embed_query("open the file").tolist()}))
"""


def static(model: Path) -> EmbeddingSettings:
    return EmbeddingSettings(model=str(model), backend="static")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("static") / "model", prompts={"query": "ask: ", "document": "text: "})


@pytest.fixture(scope="module")
def models(model: Path) -> Path:
    directory = model.parent / "models"
    load_embedder(static(model), directory)
    return directory


@pytest.fixture(scope="module")
def encoder(models: Path) -> StaticEncoder:
    [vectors] = models.rglob("vectors.npy")
    return StaticEncoder(vectors, vectors.with_name("tokenizer.json"))


def test_two_processes_distil_once_without_a_heavy_library_and_as_everyone_does(model: Path, models: Path, tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", LOAD, str(model), str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [child.communicate(timeout=300) for child in children]
    assert [child.returncode for child in children] == [0, 0], said
    assert sum(log.count("Exporting the embedding model") for _, log in said) == 1
    assert said[0][0] == said[1][0]
    assert json.loads(said[0][0])["heavy"] == []
    [directory] = [path.parent for path in tmp_path.rglob("export.json")]
    assert sorted(path.name for path in directory.iterdir()) == ["export.json", "tokenizer.json", "vectors.npy"]
    elsewhere = load_embedder(static(model), models)  # distilled another time
    rows = np.asarray(json.loads(said[0][0])["rows"], np.float32)
    np.testing.assert_array_equal(rows, elsewhere.embed_documents(["open the file", "", "loadFile"]))


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_damaged_vectors_are_made_again(models: Path, model: Path, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    copy = tmp_path / "models"
    shutil.copytree(models, copy)
    embedder = load_embedder(static(model), copy)
    [vectors] = copy.rglob("vectors.npy")
    if damage == "cut":
        vectors.write_bytes(vectors.read_bytes()[:-100])
    else:
        vectors.unlink()
    with caplog.at_level(logging.INFO, "rag.embedding.exports"):
        again = load_embedder(static(model), copy)
    assert "Exporting the embedding model" in caplog.text
    np.testing.assert_array_equal(again.embed_query("open"), embedder.embed_query("open"))


@pytest.mark.parametrize("table", [np.zeros((3, 4)), np.full((400, 4), np.nan), np.zeros(400)])
def test_a_table_that_does_not_fit_its_tokenizer_is_an_error_that_names_it(models: Path, tmp_path: Path, table: np.ndarray) -> None:
    [tokenizer] = models.rglob("tokenizer.json")
    np.save(tmp_path / "vectors.npy", table)
    with pytest.raises(ModelError, match=r"vectors\.npy cannot be loaded"):
        StaticEncoder(tmp_path / "vectors.npy", tokenizer)


def test_it_is_another_model_than_the_one_it_was_distilled_from(model: Path) -> None:
    whole, distilled = describe(EmbeddingSettings(model=str(model))), describe(static(model))
    assert whole.weights_hash != distilled.weights_hash
    assert (distilled.backend, distilled.read_tokens, distilled.document_prompt) == ("static", 0, "")
    assert describe(EmbeddingSettings()).dimension == 384
    assert describe(EmbeddingSettings(backend="static")).dimension == 256


def test_prompts_of_the_settings_count(model: Path, models: Path) -> None:
    asked = EmbeddingSettings(model=str(model), backend="static", query_prompt="read ", document_prompt="cache ")
    plain, prompted = load_embedder(static(model), models), load_embedder(asked, models)
    np.testing.assert_array_equal(prompted.embed_query("file"), plain.embed_query("read file"))
    np.testing.assert_array_equal(prompted.embed_documents(["file"]), plain.embed_documents(["cache file"]))


def test_identifiers_are_read_as_the_words_they_are_made_of(encoder: StaticEncoder) -> None:
    written = encoder.encode(["openFile", "open_file", "OPENFile", "open file", "openfile"])
    np.testing.assert_array_equal(written[:3], np.stack([written[3]] * 3))
    assert not np.allclose(written[4], written[3], atol=1e-3)


def test_what_comes_first_in_a_chunk_weighs_most(encoder: StaticEncoder) -> None:
    early, late = encoder.encode(["cache " + "return " * 60, "return " * 60 + "cache"], fading=True)
    [wanted] = encoder.encode(["cache"])
    assert early @ wanted > late @ wanted


def test_texts_that_say_nothing_share_one_vector(encoder: StaticEncoder) -> None:
    nothing = encoder.encode(["", " \n", "\ue000", "\ue000\ue001 \ue002", "[PAD][CLS]"])
    np.testing.assert_array_equal(nothing, np.stack([nothing[0]] * len(nothing)))
    assert abs(float(np.linalg.norm(nothing[0])) - 1) < 1e-6


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.booleans())
def test_a_vector_depends_on_its_text_alone_to_the_last_bit(encoder: StaticEncoder, texts: list[str], fading: bool) -> None:
    together = encoder.encode([*texts, "a neighbour " * 50], fading=fading)
    alone = np.concatenate([encoder.encode([text], fading=fading) for text in texts])
    np.testing.assert_array_equal(together[:-1], alone)


def test_a_model_without_a_transformer_is_not_distilled(tmp_path: Path) -> None:
    published = save_tiny_static_model(tmp_path / "published")
    assert describe(static(published)).backend == "sentence-transformers"


def test_damaged_weights_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    broken = save_tiny_model(tmp_path / "model")
    (broken / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0garbage!")
    with pytest.raises(ModelError, match=r"The embedding model in .* cannot be loaded"):
        load_embedder(static(broken), tmp_path / "models")
    assert list((tmp_path / "models").rglob("vectors.npy")) == []


def test_a_published_static_model_runs_as_sentence_transformers_runs_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from sentence_transformers import SentenceTransformer

    published = save_tiny_static_model(tmp_path / "published", prompts={"query": "ask: "})
    asked = EmbeddingSettings(model=str(published))
    spec = describe(asked)
    assert (spec.backend, spec.dimension) == ("sentence-transformers", 24)
    with caplog.at_level(logging.INFO, "rag"):
        embedder = load_embedder(asked, tmp_path / "models")
    assert caplog.text == ""
    assert not (tmp_path / "models").exists()
    texts = ["open the file", "return a + b", "evict " * 700]
    reference = SentenceTransformer(str(published), device="cpu")
    np.testing.assert_allclose(embedder.embed_documents(texts), reference.encode(texts, prompt=""), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("open"), reference.encode(["ask: open"], prompt="")[0], atol=1e-6)


def test_a_static_model_without_its_table_says_so(tmp_path: Path) -> None:
    published = save_tiny_static_model(tmp_path / "published")
    [weights] = published.rglob("model.safetensors")
    weights.write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    with pytest.raises(ModelError, match="holds no token vectors"):
        describe(EmbeddingSettings(model=str(published)))
