"""Which embedding model is meant, and a loaded one.

The first load of a model goes through sentence-transformers and torch, which export and verify it; every later one runs the
export in onnxruntime, or a static model in numpy, and imports neither. Describing a model imports no heavy library at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from rag.embedding.model_files import ModelFiles, find_model
from rag.errors import ConfigurationError
from rag.protocols import Embedder
from rag.types import EmbeddingSpec

Backend = Literal["onnx-int8", "onnx-fp32", "static", "sentence-transformers"]
BACKENDS: tuple[Backend, ...] = ("onnx-int8", "onnx-fp32", "static", "sentence-transformers")

STATIC_RECIPE = 1  # of rag.embedding.distil_model: another number makes every static model another
STATIC_DIMENSION = 256


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model, and how to run it.

    `model`: a sentence-transformers model by name ("all-MiniLM-L6-v2" comes with the installation) or the path of its directory.
    `query_prompt`, `document_prompt`: put before every question or chunk; "" takes the model's own. `backend`: one of BACKENDS;
    a model that cannot be exported runs through sentence-transformers whatever is asked, and so does one that is static already.
    "static" is a table distilled from the model, a vector a token (rag.embedding.distil_model): prompts are then the settings' alone, for
    the model's own are there for its transformer; it reads all of a chunk whatever `read_tokens` says, which costs it next to nothing.
    `threads`: 0 for one per core.
    `download`: whether a model that is not on this machine may be fetched from the Hugging Face hub.
    `read_tokens`: most tokens of a chunk that are read, 0 for the model's window. A chunk says what it is about at its beginning: half of
    MiniLM's window costs half the time and loses nothing in ranking (docs/retrieval.md).
    """

    model: str = "all-MiniLM-L6-v2"
    query_prompt: str = ""
    document_prompt: str = ""
    backend: Backend = "onnx-int8"
    threads: int = 0
    download: bool = True
    read_tokens: int = 128


def describe(settings: EmbeddingSettings) -> EmbeddingSpec:
    """The vectors that `load_embedder` will make, without loading the model: a tenth of a second, most of it hashing the weights.

    Raises: UnknownModel, ModelMismatch, ConfigurationError (an unknown back end).
    """
    return _spec(settings, _files(settings))


def tokenizer_file(settings: EmbeddingSettings) -> Path:
    """The model's `tokenizer.json`. It may ask for padding and truncation: turn both off before counting tokens.

    Raises: UnknownModel, ModelMismatch.
    """
    return _files(settings).tokenizer


def load_embedder(settings: EmbeddingSettings, models_directory: Path) -> Embedder:
    """A model ready to embed. Exports under `models_directory` if no export is there yet, which takes about half a minute.

    Raises: UnknownModel, ModelMismatch, ModelError (the export could not be made or does not agree), ConfigurationError.
    """
    files = _files(settings)
    spec = _spec(settings, files)
    query_prompt = settings.query_prompt or files.query_prompt
    if spec.backend == "sentence-transformers":
        from rag.embedding.sentence_transformers_adapter import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(files.directory, spec, query_prompt=query_prompt, threads=settings.threads)
    from rag.embedding.exports import ensure_export

    exported = ensure_export(files, spec.backend, models_directory)
    if spec.backend == "static":
        from rag.embedding.static_encoder import StaticEmbedder

        return StaticEmbedder(exported, spec, query_prompt=query_prompt)
    from rag.embedding.onnx_encoder import OnnxEmbedder

    return OnnxEmbedder(exported, spec, query_prompt=query_prompt, threads=settings.threads)


def _spec(settings: EmbeddingSettings, files: ModelFiles) -> EmbeddingSpec:
    backend = _backend(settings, files)
    reads_less = backend != "static" and files.transformer and settings.read_tokens < files.window
    return EmbeddingSpec(
        model=files.name,
        weights_hash=files.weights_hash,
        backend=backend,
        dimension=files.dimension,
        window=files.window,
        document_prompt=settings.document_prompt or files.document_prompt,
        read_tokens=settings.read_tokens if reads_less else 0,
    )


def _backend(settings: EmbeddingSettings, files: ModelFiles) -> Backend:
    possible = files.transformer if settings.backend == "static" else bool(files.pooling)
    return settings.backend if possible else "sentence-transformers"


def _files(settings: EmbeddingSettings) -> ModelFiles:
    if settings.backend not in BACKENDS:
        raise ConfigurationError(f"The embedding back end {settings.backend!r} does not exist.", f"Choose one of {', '.join(BACKENDS)}.")
    files = _find_once(settings.model, settings.download)
    return _distilled(files) if _backend(settings, files) == "static" else files


def _distilled(files: ModelFiles) -> ModelFiles:
    """The static model that is made of a model: another one, by another name of its weights."""
    of_recipe = sha256(f"{files.weights_hash} static {STATIC_RECIPE} {STATIC_DIMENSION}".encode()).hexdigest()
    dimension = min(STATIC_DIMENSION, files.dimension)
    return replace(files, weights_hash=of_recipe, dimension=dimension, query_prompt="", document_prompt="")


# Hashing 90 MB at every call would be felt. A model replaced on disk is seen at the next start.
@cache
def _find_once(model: str, download: bool) -> ModelFiles:
    return find_model(model, download=download)
