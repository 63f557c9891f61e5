"""A question to ranked chunks: both retrievers, their fusion, and how each result came to its place."""
