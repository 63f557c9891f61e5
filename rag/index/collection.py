"""One generation in a Qdrant collection: point i is chunk i, with its vector, its BM25 weights and the fields that filters read.

The weights are those of SparseIndex, so the dot product with the counts of a query's terms is the query's BM25 score, as a float of
32 bits. Qdrant finds no point whose score is exactly 0, while a chunk that holds a term is a candidate whatever it scores (the idf of a
term in half of the chunks is 0): such a weight is written as `NOTHING`, too small to change any other score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from qdrant_client import models
from scipy.sparse import csr_matrix

from rag.index.dense_points import Condition, keyword, payload
from rag.index.path_cover import Cover, ending_of, folders_of
from rag.index.server_settings import ServerSettings
from rag.protocols import Vector
from rag.types import Chunk

DENSE, SPARSE = "dense", "sparse"
NOTHING = 1e-30
_NEARLY_NOTHING = 1e-20
_REQUEST = 8 << 20  # bytes of an upsert; a server takes 32 MB
# A graph of its own for each of thousands of paths would cost more than the vectors' graph.
_MANY = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False)
_FEW = models.PayloadSchemaType.KEYWORD
INDEXED: Mapping[str, Any] = {"language": _FEW, "kind": _FEW, "ending": _FEW, "folder": _MANY, "path": _MANY}


def collection_body(dimension: int, settings: ServerSettings) -> dict[str, Any]:
    """The arguments of create_collection, without its name."""
    quantized = None
    if settings.quantization == "int8":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        quantized = models.ScalarQuantization(scalar=scalar)
    return {
        "vectors_config": {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams()},
        "hnsw_config": models.HnswConfigDiff(m=settings.links, ef_construct=settings.build_width),
        "quantization_config": quantized,
        "shard_number": settings.shards or None,
        "replication_factor": settings.replicas or None,
        "write_consistency_factor": settings.write_consistency or None,
    }


def batches(vectors: Vector, chunks: Sequence[Chunk], weights: csr_matrix | None) -> Iterator[list[models.PointStruct]]:
    """All points, in requests of a size that a server takes. `weights`: (n, terms) of BM25, None for none."""
    held = int(weights.nnz / max(1, len(chunks))) if weights is not None else 0
    count = max(1, min(1_000, _REQUEST // (24 * vectors.shape[1] + 40 * held + 1_000)))
    for start in range(0, len(chunks), count):
        yield [_point(row, vectors, chunks[row], weights) for row in range(start, min(start + count, len(chunks)))]


def _point(row: int, vectors: Vector, chunk: Chunk, weights: csr_matrix | None) -> models.PointStruct:
    named: dict[str, Any] = {DENSE: vectors[row].tolist()}
    if weights is not None:
        columns, values = row_of(weights, row)
        if columns:
            named[SPARSE] = models.SparseVector(indices=columns, values=values)
    fields = {**payload(chunk), "ending": keyword(ending_of(chunk.path)), "folder": [keyword(folder) for folder in folders_of(chunk.path)]}
    return models.PointStruct(id=row, vector=named, payload=fields)


def row_of(weights: csr_matrix, row: int) -> tuple[list[int], list[float]]:
    """A chunk's columns and what they weigh, as they are written."""
    entries = slice(int(weights.indptr[row]), int(weights.indptr[row + 1]))
    values = weights.data[entries].astype(np.float32)
    return weights.indices[entries].tolist(), np.where(np.abs(values) < NOTHING, np.float32(NOTHING), values).tolist()


def dense_query(vector: Sequence[float], count: int, chosen: models.Filter | None, settings: ServerSettings) -> models.QueryRequest:
    quantized = None
    if settings.quantization == "int8":
        quantized = models.QuantizationSearchParams(rescore=True, oversampling=settings.oversampling)
    parameters = models.SearchParams(hnsw_ef=max(settings.search_width, 2 * count), quantization=quantized)
    return models.QueryRequest(query=list(vector), using=DENSE, filter=chosen, limit=count, params=parameters, with_payload=False)


def sparse_query(counts: Mapping[int, int], count: int, chosen: models.Filter | None) -> models.QueryRequest:
    """`counts`: column -> how often the query holds its term; not empty."""
    columns = sorted(counts)
    query = models.SparseVector(indices=columns, values=[float(counts[column]) for column in columns])
    return models.QueryRequest(query=query, using=SPARSE, filter=chosen, limit=count, with_payload=False)


def found(response: models.QueryResponse) -> list[tuple[int, float]]:
    """(row, score)"""
    return [(int(point.id), float(point.score)) for point in response.points]


def found_by_words(response: models.QueryResponse) -> list[tuple[int, float]]:
    """(row, BM25). A score of exactly 0 would be of a chunk without any of the terms; one of next to nothing is a 0."""
    return [(row, 0.0 if abs(score) < _NEARLY_NOTHING else score) for row, score in found(response) if score != 0]


def filter_of(asked: Sequence[Condition], paths: Cover | None) -> models.Filter | None:
    """Every condition must hold; `paths`, where given, by ending, folder or name. None where nothing is asked."""
    must: list[Any] = [_any(condition.field, condition.values) for condition in asked]
    if paths is not None:
        named = {"ending": paths.endings, "folder": paths.folders, "path": paths.paths}
        ways = [_any(field, [keyword(value) for value in values]) for field, values in named.items() if values]
        must += ways if len(ways) == 1 else [models.Filter(should=ways)]
    return models.Filter(must=must) if must else None


def _any(field: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
