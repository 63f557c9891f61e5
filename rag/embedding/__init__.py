"""Text to vectors: finding a model, exporting it once, running the export, remembering what was embedded."""
