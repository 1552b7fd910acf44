"""Runs mixed calls from threads for hours, and watches memory and ids. Run `make soak`; see docs/robustness.md."""
