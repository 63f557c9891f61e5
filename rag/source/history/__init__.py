"""Who changed which file and when: one pass over a repository's history. A package of its own, for it shapes no chunk: the recipe of an
index (rag.index.recipe) is a hash of the modules beside it."""
