"""How many instructions a build takes. Run `python -m bench.budget`; see docs/benchmarks.md."""
