"""Tokenizes corpora of any size to dataset folders, in jobs that can be resumed, and memory-maps the folders."""

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
