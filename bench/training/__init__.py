"""Compares trainers: ``python -m bench.training``."""
