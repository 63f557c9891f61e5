"""`make bench-retrieval`: the targets of retrieval, with the plainer stages beside them, on labelled questions about real repositories."""
