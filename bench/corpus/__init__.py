"""Compares engines that convert corpora to ids: ``python -m bench.corpus``."""
