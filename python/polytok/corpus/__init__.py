"""Turns corpora of any size into tokens: jobs are planned, run and resumed; datasets are opened memory-mapped."""

from .counting import count_words
from .dataset import Dataset, open
from .export import export
from .manifest import Manifest
from .mapped import MappedShard
from .merge import merge
from .options import DocumentOptions
from .report import Report
from .tokenizing import tokenize
from .verify import Damage, verify
from .windows import Windows

__all__ = [
    "Damage",
    "Dataset",
    "DocumentOptions",
    "Manifest",
    "MappedShard",
    "Report",
    "Windows",
    "count_words",
    "export",
    "merge",
    "open",
    "tokenize",
    "verify",
]
