"""What goes over the wire to a Qdrant server, through the real client library, and what becomes of every failure."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import CollectionGone, ConfigurationError, IndexCorrupt, StoreUnavailable
from rag.index.dense_server import ServerBackend
from rag.index.server import PAUSE, Server
from rag.index.server_settings import ServerSettings, checked_url
from rag.index.sparse import SparseIndex
from rag.types import Chunk, Filters, Kind
from tests.contracts.test_dense_store import CHUNKS, VECTORS
from tests.index.fake_qdrant import FakeQdrant, Fault, Request, fake_qdrant
from tests.index.servers import both

KEY = "canary-key-canary-key"
SPARSE = SparseIndex.from_terms([chunk.text.split() for chunk in CHUNKS])


@pytest.fixture
def fake() -> Iterator[FakeQdrant]:
    with fake_qdrant() as made:
        yield made


def backend_of(fake: FakeQdrant, data_dir: Path, **settings: Any) -> ServerBackend:
    return ServerBackend(Server(ServerSettings(fake.url, **settings), sleep=lambda seconds: None), data_dir)


def failing(method: str, ending: str, fault: Fault = Fault(), times: int = 1_000) -> Any:
    left = [times]

    def fails(request: Request) -> Fault | None:
        if request.method == method and request.path.endswith(ending) and left[0]:
            left[0] -= 1
            return fault
        return None

    return fails


def test_what_a_collection_is_made_of(fake: FakeQdrant, tmp_path: Path) -> None:
    backend = backend_of(fake, tmp_path, links=24, build_width=200, quantization="int8", shards=3, replicas=2, write_consistency=2)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    (name,) = fake.collections()
    assert name.startswith(backend.prefix)
    (made,) = [request for request in fake.requests if request.method == "PUT" and request.path == f"/collections/{name}"]
    assert made.body["vectors"] == {"dense": {"size": 16, "distance": "Cosine"}}
    assert made.body["sparse_vectors"] == {"sparse": {}}
    assert made.body["hnsw_config"] == {"m": 24, "ef_construct": 200}
    assert made.body["quantization_config"] == {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}}
    assert (made.body["shard_number"], made.body["replication_factor"], made.body["write_consistency_factor"]) == (3, 2, 2)
    indexed = {request.body["field_name"]: request.body["field_schema"] for request in fake.asked("PUT", "/index")}
    many = {"type": "keyword", "enable_hnsw": False}
    assert indexed == {"language": "keyword", "kind": "keyword", "ending": "keyword", "folder": many, "path": many}
    order = [(request.method, request.path.rpartition("/")[2]) for request in fake.requests]
    assert order.index(("PUT", "index")) < order.index(("PUT", "points"))
    (points,) = fake.asked("PUT", "/points")
    assert points.query == "wait=true"
    assert [point["id"] for point in points.body["points"]] == list(range(90))
    first = points.body["points"][1]
    assert first["payload"] == {"language": "go", "kind": "class", "path": "src/net/file0.go", "ending": "go", "folder": ["src", "src/net"]}
    np.testing.assert_allclose(first["vector"]["dense"], VECTORS[1], rtol=1e-6)
    counts = SPARSE.counts(["line", "1", "1"])
    held = dict(zip(first["vector"]["sparse"]["indices"], first["vector"]["sparse"]["values"], strict=True))
    assert sum(times * held[column] for column, times in counts.items()) == pytest.approx(SPARSE.scores(["line", "1", "1"])[1], rel=1e-6)


def test_by_default_nothing_is_quantised_and_a_cluster_decides(fake: FakeQdrant, tmp_path: Path) -> None:
    backend_of(fake, tmp_path).create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    (made,) = [request for request in fake.requests if request.method == "PUT" and request.path.count("/") == 2]
    assert made.body["hnsw_config"] == {"m": 32, "ef_construct": 256}
    assert all(made.body.get(key) is None for key in ("quantization_config", "shard_number", "replication_factor"))


def test_a_question_is_one_request(fake: FakeQdrant, tmp_path: Path) -> None:
    backend = backend_of(fake, tmp_path, search_width=300, quantization="int8", oversampling=3.0, api_key=KEY)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    store = backend.open(tmp_path / "store")
    fake.requests.clear()
    filters = Filters(language=("go", "python"), path=("src",))
    sparse, dense = both(store, VECTORS[4], SPARSE.counts(["4", "4", "7"]), 10, filters)
    (request,) = fake.requests
    assert request.path.endswith("/points/query/batch")
    assert request.api_key == KEY
    by_meaning, by_words = request.body["searches"]
    assert (by_meaning["using"], by_words["using"]) == ("dense", "sparse")
    assert by_meaning["filter"] == by_words["filter"]
    assert by_meaning["filter"] == {
        "must": [{"key": "language", "match": {"any": ["go", "python"]}}, {"key": "ending", "match": {"any": ["go", "py"]}}]
    }
    assert by_meaning["params"] == {"hnsw_ef": 300, "quantization": {"rescore": True, "oversampling": 3.0}}
    assert sorted(by_words["query"]["nearest"]["values"]) == [1.0, 2.0]
    assert by_meaning["with_payload"] is by_words["with_payload"] is False
    assert dense[0][0] == 4
    assert [row for row, _ in sparse] == [4, 7]


def test_the_alias_moves_in_one_request(fake: FakeQdrant, tmp_path: Path) -> None:
    backend = backend_of(fake, tmp_path)
    for name in ("one", "two"):
        backend.create(tmp_path / name, VECTORS, CHUNKS, SPARSE)
        backend.publish(tmp_path / name, "larder")
    first, second = fake.asked("POST", "/collections/aliases")
    collections = [json.loads((tmp_path / name / "store.json").read_text())["collection"] for name in ("one", "two")]
    alias = f"{backend.prefix[:-1]}.larder"
    assert first.body == {"actions": [{"create_alias": {"collection_name": collections[0], "alias_name": alias}}]}
    assert second.body == {
        "actions": [
            {"delete_alias": {"alias_name": alias}},
            {"create_alias": {"collection_name": collections[1], "alias_name": alias}},
        ]
    }
    assert fake.aliases() == {alias: collections[1]}
    backend.publish(tmp_path / "two", "larder")  # it stands there already
    assert len(fake.asked("POST", "/collections/aliases")) == 2


def test_large_generations_go_over_in_pieces(fake: FakeQdrant, tmp_path: Path) -> None:
    count = 2_300
    vectors = np.random.default_rng(3).normal(size=(count, 384)).astype(np.float32)
    chunks = [Chunk(f"a/{row % 40}.py", row + 1, row + 1, Kind.LINES, "python", f"line {row}") for row in range(count)]
    backend_of(fake, tmp_path).create(tmp_path / "store", vectors, chunks, SparseIndex.build(chunks))
    sizes = [len(request.body["points"]) for request in fake.asked("PUT", "/points")]
    assert sum(sizes) == count
    assert len(sizes) > 2
    assert all(len(json.dumps(request.body)) < 16 << 20 for request in fake.asked("PUT", "/points"))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(), r"failed \(500\)"),
        (Fault(401, b"nope"), r"refuses access \(401\)"),
        (Fault(403, b'{"status": {"error": "read only"}}'), r"refuses access \(403\)"),
        (Fault(400, b'{"status": {"error": "Format error: strict\\nmode"}}'), r"refused a request \(400: Format error: strict mode\)"),
        (Fault(429, b'{"status": {"error": "slow down"}}'), r"failed \(429\)"),
        (Fault(404, b"<html>nginx</html>"), r"is not there \(404\)"),
        (Fault(200, b'{"result": [{"poi'), "cannot be read"),
        (Fault(200, b"<html>welcome</html>"), "cannot be read"),
        (Fault(200, b'{"result": {"points": 3}, "status": "ok", "time": 0.1}'), "cannot be read"),
        (Fault(200, b'{"result": [{"points": []}]}', cut=True), "cannot be reached"),
        (Fault(hang=True), "did not answer within 1 s"),
    ],
    ids=str,
)
def test_every_failure_of_a_search_is_one_line_with_a_remedy(fake: FakeQdrant, tmp_path: Path, fault: Fault, says: str) -> None:
    backend = backend_of(fake, tmp_path, timeout=1.0, api_key=KEY)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    store = backend.open(tmp_path / "store")
    fake.fault = failing("POST", "/batch", fault)
    with pytest.raises(StoreUnavailable, match=says) as caught:
        both(store, VECTORS[0], SPARSE.counts(["1"]), 5)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert KEY not in str(caught.value)
    assert fake.url in caught.value.problem


def test_a_server_that_is_down_is_not_asked_by_every_question(fake: FakeQdrant, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = [100.0]
    server = Server(ServerSettings(fake.url), clock=lambda: now[0], sleep=lambda seconds: None)
    backend = ServerBackend(server, tmp_path)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    store = backend.open(tmp_path / "store")
    fake.requests.clear()
    fake.fault = failing("POST", "/batch", times=1)
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            with pytest.raises(StoreUnavailable, match="500"):
                store.search(VECTORS[0], 5)
        assert len(fake.requests) == 1
        now[0] += PAUSE + 0.1
        assert store.search(VECTORS[0], 5)[0][0] == 0
    assert [record.getMessage().rpartition(" It is ")[2] for record in caplog.records] == [
        "not asked again for 10 s.",
        f"the Qdrant server at {fake.url} answers again",
    ]


def test_a_build_tries_again_what_may_pass(fake: FakeQdrant, tmp_path: Path) -> None:
    fake.fault = failing("PUT", "/points", times=2)
    backend = backend_of(fake, tmp_path)
    backend.create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    assert len(fake.asked("PUT", "/points")) == 3
    backend.open(tmp_path / "store").close()


@pytest.mark.parametrize("fault", [Fault(), Fault(400), Fault(401), Fault(hang=True)], ids=str)
@pytest.mark.parametrize(("method", "ending"), [("PUT", "/points"), ("PUT", "/index")])
def test_a_build_that_fails_leaves_nothing(fake: FakeQdrant, tmp_path: Path, method: str, ending: str, fault: Fault) -> None:
    fake.fault = failing(method, ending, fault)
    with pytest.raises(StoreUnavailable):
        backend_of(fake, tmp_path, build_timeout=1.0).create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    assert fake.collections() == []


def test_weights_that_did_not_arrive_are_noticed(fake: FakeQdrant, tmp_path: Path) -> None:
    def alters(request: Request) -> Fault | None:
        if request.path.endswith("/points"):
            for point in request.body["points"]:
                point["vector"]["sparse"]["values"][0] += 0.5
        return None

    fake.fault = alters
    with pytest.raises(IndexCorrupt, match="weighs the words"):
        backend_of(fake, tmp_path).create(tmp_path / "store", VECTORS, CHUNKS, SPARSE)
    assert fake.collections() == []


def test_a_collection_that_is_gone_or_another_is_told_from_a_server_that_is_away(fake: FakeQdrant, tmp_path: Path) -> None:
    backend = backend_of(fake, tmp_path)
    for name in ("one", "two", "three"):
        backend.create(tmp_path / name, VECTORS, CHUNKS, SPARSE)
    store = backend.open(tmp_path / "one")
    collection = json.loads((tmp_path / "one" / "store.json").read_text())["collection"]
    fake.drop(collection)
    with pytest.raises(CollectionGone):
        store.search(VECTORS[0], 5)
    with pytest.raises(IndexCorrupt, match="does not have"):
        backend.open(tmp_path / "one")
    for name, key, value in (("two", "dimension", 17), ("three", "points", 91)):
        record = json.loads((tmp_path / name / "store.json").read_text())
        (tmp_path / name / "store.json").write_text(json.dumps({**record, key: value}))
        with pytest.raises(IndexCorrupt, match="were written"):
            backend.open(tmp_path / name)


def test_sweeping_takes_only_what_no_directory_of_this_installation_names(fake: FakeQdrant, tmp_path: Path) -> None:
    mine, other = backend_of(fake, tmp_path / "mine"), backend_of(fake, tmp_path / "other")
    generation = tmp_path / "mine" / "repositories" / "larder" / "generations" / "20260101T000000-0123abcd-000000"
    places = [generation / "dense", generation / "dense.partial", generation.with_name("x.partial") / "dense", tmp_path / "elsewhere"]
    for place in places:
        mine.create(place / "qdrant-server", VECTORS, CHUNKS, SPARSE)
    mine.create(generation / "dense" / ".rebuild-qdrant-server", VECTORS, CHUNKS, SPARSE)
    other.create(tmp_path / "third" / "qdrant-server", VECTORS, CHUNKS, SPARSE)
    fake.client.create_collection("somebody-elses", vectors_config={})
    assert len(fake.collections()) == 7
    left = json.loads((places[-1] / "qdrant-server" / "store.json").read_text())["collection"]
    assert mine.sweep() == [left]
    assert mine.sweep() == []
    assert len(fake.collections()) == 6
    mine.open(generation / "dense" / "qdrant-server").close()


def test_the_key_is_in_no_log_and_no_text(fake: FakeQdrant, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fake.api_key = "another"
    settings = ServerSettings(fake.url, api_key=KEY)
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreUnavailable, match="401") as caught:
        ServerBackend(Server(settings), tmp_path).check()
    assert KEY not in caplog.text + str(caught.value) + repr(settings)
    fake.api_key = KEY
    assert ServerBackend(Server(settings), tmp_path).check() == fake.version


def test_a_key_in_the_clear_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    Server(ServerSettings("http://qdrant:6333", api_key=KEY))
    assert "unencrypted" in caplog.text
    caplog.clear()
    Server(ServerSettings("http://localhost:6333", api_key=KEY))
    Server(ServerSettings("https://qdrant.example.com:6333", api_key=KEY))
    assert not caplog.records


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("http://localhost", "http://localhost:6333"),
        ("http://127.0.0.1:7000/", "http://127.0.0.1:7000"),
        ("http://[::1]:6333", "http://[::1]:6333"),
        ("http://10.1.2.3", "http://10.1.2.3:6333"),
        ("http://qdrant:6333", "http://qdrant:6333"),
        ("http://qdrant.search.svc.cluster.local", "http://qdrant.search.svc.cluster.local:6333"),
        (" https://qdrant.example.com ", "https://qdrant.example.com:6333"),
        ("https://example.com:443/qdrant/", "https://example.com:443/qdrant"),
    ],
)
def test_addresses_that_are_taken(given: str, becomes: str) -> None:
    assert checked_url(given) == becomes


@pytest.mark.parametrize(
    "given",
    [
        "",
        "qdrant:6333",
        "localhost",
        "ftp://localhost",
        "https://",
        "https://ada:hunter2hunter2@qdrant.example.com",
        "https://ada@qdrant.example.com",
        "https://qdrant.example.com?api-key=hunter2hunter2",
        "https://qdrant.example.com#hunter2hunter2",
        "https://qdrant.example.com:hunter2hunter2",
        "http://qdrant.example.com:6333",
        "http://93.184.215.14",
        "http://0.0.0.0:6333",
        "https://[::1",
    ],
)
def test_addresses_that_are_refused_are_not_repeated(given: str) -> None:
    with pytest.raises(ConfigurationError, match="QDRANT_URL") as caught:
        checked_url(given)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
