"""Corpora of any size into tokens: planned, run, resumed, and opened as mapped datasets."""

from .dataset import Dataset, open
from .export import export
from .manifest import Manifest
from .mapped import MappedShard
from .merge import merge
from .verify import Damage, verify
from .windows import Windows

__all__ = [
    "Damage",
    "Dataset",
    "Manifest",
    "MappedShard",
    "Windows",
    "export",
    "merge",
    "open",
    "verify",
]
