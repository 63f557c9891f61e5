"""How an index behaves as it grows: `make bench-growth`, or `python -m benchmarks.growth --help`.

`material` makes as many chunks as are wanted, `build` and `read` each measure one size in a process of their own, `__main__` runs them,
`report` and `plot` show what they found.
"""
