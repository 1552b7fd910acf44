"""Compares two tokenizers: their entries, merges, special tokens and pipelines, and the ids of texts.

`compare` returns `Differences`. `polytok.doctor.examine` reports the same differences as findings.
"""

from .all_differences import Differences, compare
from .entries import EntryDifferences, MovedEntry, OtherKind, OtherScore
from .merges import MergeDifferences, MovedMerge
from .modes import ModeDifference
from .special import MovedRole, MovedToken, OtherFlags, SpecialTokenDifferences
from .steps import StepDifference

__all__ = [
    "Differences",
    "EntryDifferences",
    "MergeDifferences",
    "ModeDifference",
    "MovedEntry",
    "MovedMerge",
    "MovedRole",
    "MovedToken",
    "OtherFlags",
    "OtherKind",
    "OtherScore",
    "SpecialTokenDifferences",
    "StepDifference",
    "compare",
]
