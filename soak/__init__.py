"""Long runs that kill, flood and fuzz: `make soak`, or `python -m pytest soak --help` for what can be set. Not part of `make test`.

Each stops by itself, at a count and at the latest after `--soak-minutes`; one that time ended before its count says so and fails.
"""
