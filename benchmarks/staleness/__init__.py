"""Does an answer ever cite code that is gone? `make bench-staleness`, or `python -m benchmarks.staleness --help`.

`changes` makes twenty changes to a repository, `cited` judges a citation at the new head, `trial` builds and asks, `__main__` prints.
"""
