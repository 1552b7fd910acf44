"""Trainers side by side: ``python -m bench.training``."""
