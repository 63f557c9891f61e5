"""A sentence-transformers cross-encoder on the processor: question and chunk in one input, one number out.

torch and the model are loaded when the first question needs them, in the one thread that runs the model ever after; questions wait for
each other there, and not in the threads that search.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rag.errors import RerankerFailed, UnknownModel
from rag.retrieval.reranking.texts import document_of, readable
from rag.types import Chunk, Relevance

T = TypeVar("T")
BATCH = 16  # pairs; between batches it is seen whether anybody still waits
_WITHOUT_HEAD = ("Model", "ForMaskedLM", "ForPreTraining")  # an architecture of this name would be given a head of random weights
_REMEDY = (
    "Give the path of a cross-encoder's directory, or the name of one on the Hugging Face hub (fetched once, if this machine may reach it)."
)


class CrossEncoderReranker:
    """`model`: by name on the Hugging Face hub or by the path of its directory. `max_length`: most tokens of question and chunk together.
    `download`: whether a model that is not on this machine may be fetched.
    """

    def __init__(self, model: str, *, max_length: int = 512, download: bool = True) -> None:
        self._name = model
        self._max_length = max_length
        self._download = download
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="reranker")
        self._model: Any = None
        self._failed: UnknownModel | None = None

    @property
    def name(self) -> str:
        return f"cross-encoder/{Path(self._name).name}"

    @property
    def local(self) -> bool:
        return True

    async def prepare(self) -> None:
        """Raises: UnknownModel."""
        if self._model is None:
            await self._in_worker(self._load)

    async def score(self, question: str, chunks: Sequence[Chunk]) -> list[Relevance]:
        """A score is the model's own, of one output through its activation. Raises: RerankerFailed, UnknownModel."""
        await self.prepare()
        unwanted = threading.Event()
        try:
            return await self._in_worker(lambda: self._scores(readable(question), [document_of(chunk) for chunk in chunks], unwanted))
        finally:
            unwanted.set()

    async def aclose(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _in_worker(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _load(self) -> None:
        if self._failed is not None:  # looked for once: every question would look again, over the network
            raise UnknownModel(self._failed.problem, self._failed.remedy)
        if self._model is None:
            try:
                self._model = load_cross_encoder(self._name, max_length=self._max_length, download=self._download)
            except UnknownModel as error:
                self._failed = error
                raise

    def _scores(self, question: str, texts: list[str], unwanted: threading.Event) -> list[Relevance]:
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))  # a batch is as long as its longest
        scores = np.zeros(len(texts))
        for start in range(0, len(order), BATCH):
            if unwanted.is_set():
                break
            places = order[start : start + BATCH]
            found = np.asarray(
                self._model.predict([(question, texts[place]) for place in places], batch_size=BATCH, show_progress_bar=False)
            )
            if found.shape != (len(places),):
                raise RerankerFailed(f"{self.name} gives {found.shape[1:]} numbers a pair.", "A reranker gives one: use another model.")
            scores[places] = found
        if not np.isfinite(scores).all():
            raise RerankerFailed(f"{self.name} gives what is no number.", "Use another model.")
        return [Relevance(score) for score in scores.tolist()]


def load_cross_encoder(name: str, *, max_length: int, download: bool) -> Any:
    """A `CrossEncoder` on the processor; no code of the model's own is run. Looks for a directory of that name, then in the Hugging Face
    cache, then (if allowed) on the hub.

    Raises: UnknownModel.
    """
    from sentence_transformers import CrossEncoder

    path = Path(name).expanduser()
    here = path.is_dir()
    reason = "it is not on this machine"
    for local in (True, False):
        if not local and (here or not download or os.environ.get("HF_HUB_OFFLINE") == "1"):
            continue
        try:
            model = CrossEncoder(
                str(path) if here else name, device="cpu", max_length=max_length, local_files_only=local, trust_remote_code=False
            )
        except Exception as error:  # whatever a damaged, foreign or missing model makes transformers and the hub's client raise
            if here or not local:
                reason = f"loading it raised {type(error).__name__}"
            continue
        architectures = getattr(model.config, "architectures", None) or ()
        if any(str(one).endswith(_WITHOUT_HEAD) for one in architectures):
            raise UnknownModel(f"The model {name!r} is no cross-encoder: it has nothing that scores a pair.", _REMEDY)
        return model
    raise UnknownModel(f"The cross-encoder {name!r} cannot be used: {reason}.", _REMEDY)
