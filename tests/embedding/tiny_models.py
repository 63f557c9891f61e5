"""Sentence-transformers models made on the spot: random weights, a vocabulary of a few hundred pieces, saved as theirs are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEXT = ["def open the file and read lines from it", "how does the cache evict the oldest value", "return a + b"] * 3


def save_tiny_model(
    directory: Path,
    *,
    architecture: str = "bert",
    pooling: str = "mean",
    dense: int = 0,
    prompts: dict[str, str] | None = None,
    window: int = 48,
    seed: int = 0,
) -> Path:
    """Saves a model of 32 dimensions (or `dense`) under `directory` and returns it."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(seed)
    raw = directory.with_name(directory.name + "-raw")
    _tokenizer().save_pretrained(raw)
    sizes: dict[str, Any] = {"vocab_size": 300, "pad_token_id": 0, "max_position_embeddings": 64}
    if architecture == "distilbert":
        sizes |= {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    else:
        sizes |= {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    AutoModel.from_config(AutoConfig.for_model(architecture, **sizes)).save_pretrained(raw)  # type: ignore[no-untyped-call]
    modules: list[Any] = [Transformer(str(raw), max_seq_length=window), Pooling(32, pooling_mode=pooling)]
    if dense:
        modules.append(Dense(32, dense))
    SentenceTransformer(modules=[*modules, Normalize()], prompts=prompts, device="cpu").save(str(directory))
    return directory


def save_tiny_cross_encoder(directory: Path, *, outputs: int = 1, seed: int = 0) -> Path:
    """Saves a BERT of two layers that gives `outputs` numbers for a pair of texts, and returns its directory."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=300,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,  # scores that differ
    )
    config.num_labels = outputs
    BertForSequenceClassification(config).save_pretrained(directory)
    _tokenizer().save_pretrained(directory)
    return directory


def save_tiny_static_model(directory: Path, *, prompts: dict[str, str] | None = None) -> Path:
    """Saves a model of 24 dimensions as published static ones are: a vector a token, no transformer."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    torch.manual_seed(0)
    tokens = StaticEmbedding(_tokenizer().backend_tokenizer, embedding_dim=24)
    SentenceTransformer(modules=[tokens, Normalize()], prompts=prompts, device="cpu").save(str(directory))
    return directory


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]"
    )
