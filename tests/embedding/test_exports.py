from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag.embedding.child import ExportJob
from rag.embedding.export_model import export_model
from rag.embedding.export_samples import SAMPLES
from rag.embedding.model_files import EXPORTABLE, find_model
from rag.embedding.models import EmbeddingSettings, load_embedder
from rag.errors import ModelError
from rag.protocols import Embedder
from tests.embedding.tiny_models import save_tiny_model

LOAD = """
import logging, sys
from pathlib import Path
from rag.embedding.models import EmbeddingSettings, load_embedder
logging.basicConfig(level=logging.INFO)
print(load_embedder(EmbeddingSettings(model=sys.argv[1], backend="onnx-fp32"), Path(sys.argv[2])).embed_query("open the file").tolist())
"""


def job_for(directory: Path, target: Path, *, backend: str = "onnx-fp32", pooling: str = "") -> ExportJob:
    files = find_model(str(directory), download=False)
    return ExportJob(
        files.name,
        str(directory),
        str(files.tokenizer),
        pooling or files.pooling,
        files.window,
        files.dimension,
        backend,
        str(target / "model.onnx"),
    )


@pytest.mark.parametrize("architecture", sorted(EXPORTABLE))
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_every_architecture_in_the_table_exports_and_agrees(tmp_path: Path, architecture: str, pooling: str) -> None:
    directory = save_tiny_model(tmp_path / "model", architecture=architecture, pooling=pooling)
    assert export_model(job_for(directory, tmp_path)) > 0.999


def test_an_export_that_does_not_agree_is_refused_with_the_remedy(tmp_path: Path) -> None:
    directory = save_tiny_model(tmp_path / "model", pooling="mean")
    with pytest.raises(ModelError, match=r'does not agree.*"sentence-transformers"'):
        export_model(job_for(directory, tmp_path, pooling="cls"))


def test_the_packaged_model_exports_exactly_and_quantised_closely(embedder: Embedder, models_directory: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    files = find_model("all-MiniLM-L6-v2", download=False)
    assert export_model(job_for(files.directory, tmp_path)) > 0.9999
    [record] = models_directory.glob("*/onnx-int8/export.json")
    assert json.loads(record.read_text("utf-8"))["agreement"] > 0.95
    unseen = [f"def step_{number}(state):\n    return state * {number}" for number in range(5)] + ["Which files hold the settings?"]
    expected = SentenceTransformer(str(files.directory), device="cpu").encode(unseen)
    assert np.sum(embedder.embed_documents(unseen) * expected, axis=1).min() > 0.95


def test_samples_differ_and_one_exceeds_every_window() -> None:
    assert len(set(SAMPLES)) == len(SAMPLES)
    assert max(len(sample.split()) for sample in SAMPLES) > 512


def test_two_processes_make_one_export_and_a_damaged_one_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = save_tiny_model(tmp_path / "model")
    models = tmp_path / "models"
    children = [
        subprocess.Popen([sys.executable, "-c", LOAD, str(model), str(models)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0], said
    assert sum(log.count("Exporting the embedding model") for _, log in said) == 1
    assert said[0][0] == said[1][0]
    [directory] = [path.parent for path in models.rglob("export.json")]
    assert sorted(path.name for path in directory.iterdir()) == ["export.json", "model.onnx", "tokenizer.json"]
    assert [path.name for path in directory.parent.iterdir() if path.name.startswith(".")] == []

    (directory / "model.onnx").write_bytes((directory / "model.onnx").read_bytes()[:-1000])
    with caplog.at_level(logging.INFO, "rag.embedding.exports"):
        again = load_embedder(EmbeddingSettings(model=str(model), backend="onnx-fp32"), models)
    assert "is damaged and is made again" in caplog.text
    np.testing.assert_allclose(again.embed_query("open the file"), json.loads(said[0][0]), atol=1e-6)


def test_an_error_of_the_exporting_process_comes_back_as_itself(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    (model / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0garbage!")
    with pytest.raises(ModelError, match=r"The embedding model in .* cannot be loaded"):
        load_embedder(EmbeddingSettings(model=str(model)), tmp_path / "models")
    assert list((tmp_path / "models").rglob("*.onnx")) == []


def test_a_directory_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    (tmp_path / "models").write_text("a file where the directory should be")
    with pytest.raises(ModelError, match=r"cannot be written to .*models"):
        load_embedder(EmbeddingSettings(model=str(model)), tmp_path / "models")
