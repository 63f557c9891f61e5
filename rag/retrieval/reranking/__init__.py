"""Rerankers: what re-scores pairs of a question and a chunk, and how that changes the order. None is asked unless it is configured."""
