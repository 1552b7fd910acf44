"""Benchmarks: polytok beside the packages people use today. Run `python -m bench.run`; see docs/benchmarks.md."""
