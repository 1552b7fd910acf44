"""Engines, builds or files beside each other in one process. Run `python -m bench.contest`; see docs/benchmarks.md."""
