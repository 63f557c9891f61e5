from tests.embedding.fixtures import embedder, models_directory

__all__ = ["embedder", "models_directory"]
