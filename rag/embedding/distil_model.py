"""Distilling a static model: every token of the vocabulary once through the transformer, alone, and what comes out kept as its vector.

The vectors are centred, turned onto their principal axes, of which the first are kept, and made as wide in one as in another (whitening):
what all tokens share tells none apart. A token weighs what smooth inverse frequency gives it (Arora et al. 2017), a ÷ (a + p), with p after
Zipf by its place in the vocabulary, where common tokens come first.
Runs in a process of its own, `python -m rag.embedding.distil_model`, as an export does: JSON in, JSON out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag.embedding.child import ExportJob, run_job
from rag.embedding.sentence_transformers_adapter import load_sentence_transformer
from rag.embedding.static_encoder import StaticEncoder
from rag.errors import ModelError

REQUIRED_AGREEMENT = 0.999
_LOOKED_AT = 1_000  # tokens that are compared, as far as their text is one token again
_BATCH = 512  # tokens run at once
_FREQUENT = 1e-4  # a: what is more frequent than this counts for less
_FLAT = 1e-4  # of the widest axis: what is narrower than this is noise, and is not made wider than this

Floats = NDArray[np.float64]


def distil_model(job: ExportJob) -> float:
    """Writes (tokens + 1, d) float16, the last row for a text that says nothing. Returns how the tokens' vectors agree with the model.

    Raises: ModelError.
    """
    torch.set_num_threads(1)  # a sum's order, and so the last bits, would depend on the number of cores
    model = load_sentence_transformer(Path(job.directory))
    tokenizer = Tokenizer.from_file(job.tokenizer)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    try:
        tokens = _through_transformer(model, tokenizer)
    except Exception as error:  # whatever a model's code raises when it is given single tokens
        raise ModelError(
            f"No static model can be distilled from the embedding model {job.name} ({type(error).__name__}).",
            'Set the embedding back end to "onnx-int8".',
        ) from error
    agreement = _agreement(job.name, model, tokenizer, tokens)
    table = _whitened(tokens, job.dimension)
    table[:-1] *= _importance(len(table) - 1)[:, None]
    table[[number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special]] = 0.0
    np.save(job.target, table.astype(np.float16), allow_pickle=False)
    StaticEncoder(Path(job.target), Path(job.tokenizer))  # reads it as it will be read
    return agreement


def _through_transformer(model: Any, tokenizer: Tokenizer) -> Floats:
    """(tokens + 1, d): each token between the model's special ones, pooled as the model pools; then nothing between them."""
    alone = tokenizer.encode("a")
    inner = [place for place, special in enumerate(alone.special_tokens_mask) if not special]
    before, after = alone.ids[: inner[0]], alone.ids[inner[-1] + 1 :]
    size = 1 + max(tokenizer.get_vocab().values())
    texts = [[*before, token, *after] for token in range(size)]
    with torch.inference_mode():
        rows = [_pooled(model, texts[start : start + _BATCH]) for start in range(0, size, _BATCH)]
        nothing = _pooled(model, [[*before, *after] or [0]])
    return np.concatenate([*rows, nothing]).astype(np.float64)


def _pooled(model: Any, ids: list[list[int]]) -> NDArray[np.float32]:
    read = torch.tensor(ids, dtype=torch.long)
    features = {"input_ids": read, "attention_mask": torch.ones_like(read)}
    vectors: NDArray[np.float32] = model(features)["sentence_embedding"].numpy()
    return vectors


def _whitened(rows: Floats, dimension: int) -> Floats:
    """(n, dimension) of (n, d) rows: unit, centred, on their principal axes, all of one width. The last row is not among those measured."""
    units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    centred = units - units[:-1].mean(axis=0)
    widths, axes = np.linalg.eigh(np.cov(centred[:-1], rowvar=False, bias=True))
    first = np.argsort(-widths)[:dimension]
    widths, axes = widths[first], axes[:, first]
    # Which way an axis points is the library's whim; two machines' vectors would be strangers.
    axes = axes * np.where(axes[np.argmax(np.abs(axes), axis=0), np.arange(len(first))] < 0, -1.0, 1.0)
    turned: Floats = centred @ axes / np.sqrt(np.maximum(widths, _FLAT * widths[0]))
    return turned


def _importance(size: int) -> Floats:
    """(size,) of each token by its place: Zipf's law for the frequency, smooth inverse frequency for the weight."""
    frequency = 1.0 / np.arange(1, size + 1)
    weights: Floats = _FREQUENT / (_FREQUENT + frequency / frequency.sum())
    return weights


def _agreement(name: str, model: Any, tokenizer: Tokenizer, tokens: Floats) -> float:
    """The lowest cosine similarity of tokens as they were taken here to what the model says of their text. Raises: ModelError."""
    texts: dict[int, str] = {}
    for number in range(0, len(tokens) - 1, max(1, (len(tokens) - 1) // _LOOKED_AT)):
        text = tokenizer.decode([number])
        if text and tokenizer.encode(text, add_special_tokens=False).ids == [number]:
            texts[number] = text
    expected = np.asarray(model.encode(list(texts.values()), prompt="", normalize_embeddings=True, show_progress_bar=False))
    taken = tokens[list(texts)]
    agreement = float(np.min(np.sum(taken * expected, axis=1) / np.linalg.norm(taken, axis=1), initial=1.0)) if texts else 0.0
    if not agreement >= REQUIRED_AGREEMENT:
        raise ModelError(
            f"The vectors of single tokens do not agree with the embedding model {name} that they are of (cosine {agreement:.3f}).",
            'Set the embedding back end to "onnx-int8".',
        )
    return agreement


if __name__ == "__main__":
    sys.exit(run_job(distil_model))
