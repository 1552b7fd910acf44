"""Benchmarks that compare polytok with other tokenizer packages. Run `python -m bench.run`; see docs/benchmarks.md."""
