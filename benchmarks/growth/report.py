"""The figures of all sizes as a Markdown table and as panels to plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.growth.plot import Points

QUERIES = ("sparse", "dense", "retrieve")
MB = 1e6
Row = tuple[str, list[str]]


def table(sizes: Sequence[Mapping[str, Any]]) -> str:
    """A column a size, ascending."""
    rows: list[Row] = [
        ("counting terms, sparse part, s", [f"{one['seconds']['sparse']:.1f}" for one in sizes]),
        ("dense store from vectors, s", [f"{one['seconds']['dense']:.1f}" for one in sizes]),
        ("peak memory of the builder, MB", [f"{one['peak'] / MB:,.0f}" for one in sizes]),
        ("disk: chunks and BM25, MB", [f"{one['disk']['sparse'] / MB:,.1f}" for one in sizes]),
        ("disk: vectors, MB", [f"{one['disk']['vectors'] / MB:,.1f}" for one in sizes]),
        ("disk: dense store, MB", [f"{one['disk']['dense'] / MB:,.1f}" for one in sizes]),
        ("memory of the reader, MB (of it mapped files)", [f"{one['resident'] / MB:,.0f} ({one['mapped'] / MB:,.0f})" for one in sizes]),
        ("start: opened and first answer, ms", [f"{1000 * one['start']:,.0f}" for one in sizes]),
    ]
    rows += [
        (f"{name}, ms: p50 / p99", ["{:.1f} / {:.1f}".format(*one["milliseconds"][name]) for one in sizes])
        for query in QUERIES
        for name in (query, f"{query}, filtered")
    ]
    rows += [
        ("the filter lets through", [f"{one['share']:.0%}" for one in sizes]),
        ("recall@10 of the dense store", [f"{one['recall']:.3f}" for one in sizes]),
        ("recall@10 of the dense store, filtered", [f"{one['recall, filtered']:.3f}" for one in sizes]),
        ("vectors", [one["vectors"] for one in sizes]),
    ]
    head = ["| |" + "".join(f" {one['chunks']:,} |" for one in sizes), "|---|" + "---|" * len(sizes)]
    return "\n".join([*head, *(f"| {name} |" + "".join(f" {value} |" for value in values) for name, values in rows)])


def panels(sizes: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Points]]:
    def line(value: Any) -> Points:
        return [(one["chunks"], float(value(one))) for one in sizes]

    def queries(suffix: str) -> dict[str, Points]:
        return {
            f"{query} {percent}": line(lambda one, key=f"{query}{suffix}", place=place: one["milliseconds"][key][place])
            for query in QUERIES
            for place, percent in enumerate(("p50", "p99"))
        }

    return {
        "A question, ms, by chunks": queries(""),
        "The same with a filter, ms": queries(", filtered"),
        "Memory, MB": {"builder, peak": line(lambda one: one["peak"] / MB), "reader": line(lambda one: one["resident"] / MB)},
        "Disk, MB": {
            "chunks and BM25": line(lambda one: one["disk"]["sparse"] / MB),
            "vectors": line(lambda one: one["disk"]["vectors"] / MB),
            "dense store": line(lambda one: one["disk"]["dense"] / MB),
        },
        "Build without embedding, s": {
            "sparse part": line(lambda one: one["seconds"]["sparse"]),
            "dense store": line(lambda one: one["seconds"]["dense"]),
        },
        "Start: first answer, s": {"first answer": line(lambda one: one["start"])},
    }
