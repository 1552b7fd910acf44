"""Counts the instructions that a build executes. Run `python -m bench.budget`; see docs/benchmarks.md."""
