"""Measures vocabularies side by side, on groups of texts: `stats` returns `Stats`."""

from .data import ModelStats, Stats, TextGroup, TokenStats
from .measure import stats

__all__ = ["ModelStats", "Stats", "TextGroup", "TokenStats", "stats"]
