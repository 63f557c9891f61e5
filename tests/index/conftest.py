"""Fixtures of this room's tests."""

from tests.embedding.fixtures import embedder, models_directory
from tests.index.fixtures import sample_index, sample_source

__all__ = ["embedder", "models_directory", "sample_index", "sample_source"]
