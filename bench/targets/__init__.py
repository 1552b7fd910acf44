"""Measures polytok against its speed targets. Run `python -m bench.targets`; see docs/benchmarks.md."""
