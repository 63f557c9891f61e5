"""What prints the figures: `make bench`, or `python -m benchmarks --help`.

A benchmark is one module with `run(bench: Bench) -> list[Measure]`, and a line in `__main__.BENCHMARKS`. It runs what we do and something
to compare it with in turn, in the same run, and gives both with their ratio: seconds alone say more about the machine than about us.
"""
