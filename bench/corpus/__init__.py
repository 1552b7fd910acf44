"""Corpora to ids, side by side: ``python -m bench.corpus``."""
