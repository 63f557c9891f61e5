"""The exports of embedding models: looked up, made once, verified, published whole.

<models directory>/<first 16 digits of the weights hash>/<back end>/   model.onnx or vectors.npy  tokenizer.json  export.json
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from rag.embedding.model_files import ModelFiles
from rag.errors import ModelError, UnknownModel

log = logging.getLogger(__name__)

EXPORT_VERSION = 1  # another number makes every export be made again
LOCK_TIMEOUT = 600.0  # seconds to wait for another process's export
EXPORT_TIMEOUT = 540.0  # seconds


@dataclass(frozen=True, slots=True)
class Export:
    """A verified export. `model`: the ONNX file, or the vectors of a static model. `agreement`: lowest
    cosine similarity to sentence-transformers, over the sample texts, or over single tokens for a static model.
    """

    model: Path
    tokenizer: Path
    agreement: float


@dataclass(frozen=True, slots=True)
class _Way:
    """How a back end's export is made: the module whose process makes it, and the file that it writes."""

    module: str
    file: str


_ONNX = _Way("rag.embedding.export_model", "model.onnx")
_WAYS = {"onnx-int8": _ONNX, "onnx-fp32": _ONNX, "static": _Way("rag.embedding.distil_model", "vectors.npy")}


def ensure_export(files: ModelFiles, backend: str, models_directory: Path) -> Export:
    """The export of a model, made now if there is none or its files are not what was published.

    Two processes that ask at once make one export: the second waits, at most ten minutes.

    Raises: ModelError.
    """
    parent = models_directory / files.weights_hash[:16]
    directory = parent / backend
    found = _read(directory, files.weights_hash)
    if found is not None:
        return found
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with FileLock(parent / f"{backend}.lock", timeout=LOCK_TIMEOUT):
            return _read(directory, files.weights_hash) or _make(files, backend, directory)
    except Timeout as error:
        raise ModelError(
            f"Another process has been exporting the embedding model {files.name} for more than {LOCK_TIMEOUT / 60:.0f} minutes.",
            f"End it, or remove {parent} and try again.",
        ) from error
    except OSError as error:
        raise ModelError(
            f"The export of the embedding model {files.name} cannot be written to {parent}: {error.strerror or error}.",
            "Make room and see that the directory may be written.",
        ) from error


def _read(directory: Path, weights_hash: str) -> Export | None:
    try:
        record = json.loads((directory / "export.json").read_text("utf-8"))
        wanted = (EXPORT_VERSION, weights_hash)
        if (record["version"], record["weights_hash"]) != wanted:
            return None
        if any(_sha256(directory / name) != digest for name, digest in record["sha256"].items()):
            log.warning("The exported embedding model in %s is damaged and is made again.", directory)
            return None
        return Export(directory / _WAYS[directory.name].file, directory / "tokenizer.json", float(record["agreement"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        log.warning("The exported embedding model in %s cannot be read and is made again.", directory)
        return None


def _make(files: ModelFiles, backend: str, directory: Path) -> Export:
    started = time.monotonic()
    log.info("Exporting the embedding model %s to %s; this happens once.", files.name, backend)
    with tempfile.TemporaryDirectory(prefix=f".{backend}-", dir=directory.parent) as temporary:
        staged = Path(temporary) / "export"
        staged.mkdir()
        agreement = _export_in_child(files, backend, staged / _WAYS[backend].file)
        shutil.copyfile(files.tokenizer, staged / "tokenizer.json")
        record = {
            "version": EXPORT_VERSION,
            "model": files.name,
            "weights_hash": files.weights_hash,
            "backend": backend,
            "agreement": round(agreement, 6),
            "sha256": {name: _sha256(staged / name) for name in (_WAYS[backend].file, "tokenizer.json")},
        }
        (staged / "export.json").write_text(json.dumps(record, indent=1), "utf-8")
        _flush(staged)
        if directory.exists():
            directory.rename(Path(temporary) / "replaced")
        staged.rename(directory)
    log.info("Exported the embedding model %s in %.0f s, agreement %.4f.", files.name, time.monotonic() - started, agreement)
    return Export(directory / _WAYS[backend].file, directory / "tokenizer.json", agreement)


def _export_in_child(files: ModelFiles, backend: str, target: Path) -> float:
    job = {
        "name": files.name,
        "directory": str(files.directory),
        "tokenizer": str(files.tokenizer),
        "pooling": files.pooling,
        "window": files.window,
        "dimension": files.dimension,
        "backend": backend,
        "target": str(target.resolve()),
    }
    sources = str(Path(__file__).resolve().parents[2])
    search_path = os.pathsep.join(part for part in (sources, os.environ.get("PYTHONPATH", "")) if part)
    try:
        child = subprocess.run(
            [sys.executable, "-m", _WAYS[backend].module],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=EXPORT_TIMEOUT,
            env={**os.environ, "PYTHONPATH": search_path, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
            check=False,
        )
        answer = json.loads(child.stdout)
    except subprocess.TimeoutExpired as error:
        raise ModelError(
            f"The export of the embedding model {files.name} took more than {EXPORT_TIMEOUT / 60:.0f} minutes.",
            'Try again when the machine is less busy, or set the embedding back end to "sentence-transformers".',
        ) from error
    except ValueError as error:
        log.error("The export of the embedding model %s ended with %s: %s", files.name, child.returncode, child.stderr[-2000:])
        raise ModelError(
            f"The export of the embedding model {files.name} ended without a result (exit code {child.returncode}).",
            "See that torch, sentence-transformers and onnx are installed and that 2 GB of memory are free; the log has the rest.",
        ) from error
    if "error" in answer:
        kind = UnknownModel if answer["error"] == "UnknownModel" else ModelError
        raise kind(answer["problem"], answer["remedy"])
    return float(answer["agreement"])


def _flush(directory: Path) -> None:
    for path in directory.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
