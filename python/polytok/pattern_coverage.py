"""Decides whether the matches of a split pattern provably cover every text, so that splitting drops nothing.

The engine contains the proofs (crates/polytok-pattern/src/coverage.rs). False means "not proven".
"""

from __future__ import annotations

from . import _core
from .spec import PatternSplit


def covers_all_text(step: PatternSplit) -> bool:
    """Reports whether every character of every text is provably part of a match.

    >>> covers_all_text(PatternSplit(r"\\w+|\\W+")), covers_all_text(PatternSplit(r" ?\\S+"))
    (True, False)
    """
    return step.is_regex and _core.pattern_covers_text(step.pattern, step.unicode)


def never_empty(step: PatternSplit) -> bool:
    """Reports whether every match is provably not empty.

    >>> never_empty(PatternSplit(r" ?\\S+|\\s")), never_empty(PatternSplit(r"a*"))
    (True, False)
    """
    return step.is_regex and _core.pattern_never_empty(step.pattern, step.unicode)
