"""Corpora of any size into tokens: planned, run, resumed, and opened as mapped datasets."""

from .options import Options
from .report import Report
from .tokenizing import tokenize

__all__ = ["Options", "Report", "tokenize"]
