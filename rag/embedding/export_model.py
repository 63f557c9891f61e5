"""Exporting one model: sentence-transformers and torch -> ONNX -> int8, compared with what sentence-transformers says.

The graph takes the token ids of one text and returns its unit vector, with pooling and normalisation inside. One text at a time,
because dynamic quantisation picks one scale for the whole input: in a batch, a text's vector would depend on its neighbours.
Runs in a process of its own, `python -m rag.embedding.export_model`, so that whoever asked for it never imports torch: JSON with the
model's directory, pooling, window, back end and target on standard input, JSON with the agreement or the error on standard output.
"""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from rag.embedding.child import ExportJob, run_job
from rag.embedding.export_samples import SAMPLES
from rag.embedding.onnx_encoder import Encoder
from rag.embedding.sentence_transformers_adapter import load_sentence_transformer
from rag.errors import ModelError

# Lowest cosine similarity to sentence-transformers over SAMPLES that an export may have. MiniLM has 0.9999 and 0.97.
REQUIRED_AGREEMENT = {"onnx-fp32": 0.999, "onnx-int8": 0.95}
OPSET = 17


def export_model(job: ExportJob) -> float:
    """Writes the target and returns its agreement: the lowest cosine similarity to sentence-transformers over SAMPLES.

    Raises: ModelError.
    """
    model = load_sentence_transformer(Path(job.directory))
    target = Path(job.target)
    single = target if job.backend == "onnx-fp32" else target.with_name("single.onnx")
    try:
        _export_graph(model, job.pooling, single)
        if job.backend == "onnx-int8":
            _quantise(single, target)
            single.unlink()
    except Exception as error:  # torch's exporter and the quantiser raise whatever the model's code made them meet
        raise ModelError(
            f"The embedding model {job.name} cannot be exported to {job.backend} ({type(error).__name__}).",
            'Set the embedding back end to "sentence-transformers".',
        ) from error
    expected = np.asarray(model.encode(list(SAMPLES), prompt="", normalize_embeddings=True, show_progress_bar=False), dtype=np.float32)
    encoder = Encoder(target, Path(job.tokenizer), window=job.window, threads=0)
    agreement = float(np.min(np.sum(encoder.encode(SAMPLES) * expected, axis=1)))
    if not agreement >= REQUIRED_AGREEMENT[job.backend]:
        raise ModelError(
            f"The {job.backend} export of the embedding model {job.name} does not agree with it (cosine {agreement:.3f}).",
            f'Set the embedding back end to "{"onnx-fp32" if job.backend == "onnx-int8" else "sentence-transformers"}".',
        )
    return agreement


class _OneText(torch.nn.Module):  # type: ignore[misc]  # torch is not followed
    """(1, n) token ids -> (1, d) unit vector."""

    def __init__(self, transformer: torch.nn.Module, pooling: str) -> None:
        super().__init__()
        self.transformer = transformer
        self.pooling = pooling

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states = self.transformer(input_ids=input_ids).last_hidden_state
        pooled = states[:, 0] if self.pooling == "cls" else states.mean(dim=1)
        return torch.nn.functional.normalize(pooled, p=2, dim=1)


def _export_graph(model: Any, pooling: str, target: Path) -> None:
    graph = _OneText(model[0].auto_model, pooling).eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of every Python branch; the comparison below is what counts
        torch.onnx.export(
            graph,
            (torch.full((1, 7), 5, dtype=torch.long),),
            str(target),
            input_names=["input_ids"],
            output_names=["embedding"],
            dynamic_axes={"input_ids": {1: "tokens"}},
            opset_version=OPSET,
            dynamo=False,
        )


def _quantise(source: Path, target: Path) -> None:
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # the quantiser tells the root logger to recommend a step that brings nothing here
    try:
        quantize_dynamic(source, target, per_channel=True, weight_type=QuantType.QInt8)
    finally:
        root.setLevel(level)


if __name__ == "__main__":
    sys.exit(run_job(export_model))
