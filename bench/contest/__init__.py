"""Compares engines, builds or files in one process. Run `python -m bench.contest`; see docs/benchmarks.md."""
