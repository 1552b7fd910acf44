"""How texts are split into words: names, regular expressions, or steps of a Spec."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..patterns import PATTERNS, PRE_TOKENIZERS
from ..spec import Behavior, PatternSplit, SplitStep
from .options import steps, text

Pattern = str | Sequence[SplitStep] | None


def steps_of(pattern: Pattern, behavior: Behavior) -> tuple[SplitStep, ...]:
    """The steps for a name of patterns.py or for a regular expression; steps are returned unchanged.

    ``behavior`` sets what happens to text between the matches of a regular expression.

    >>> steps_of("whitespace_split", "matches")[0].pattern, steps_of("a+", "matches")[0].pattern
    ('\\\\s', 'a+')
    """
    if pattern is None:
        return ()
    if not isinstance(pattern, (str, Sequence)):
        raise ArgumentError(f"pattern={pattern!r} is no name, no regular expression, and no steps of a Spec")
    if not isinstance(pattern, str):
        return steps("pattern", pattern)
    text("pattern", pattern)
    if pattern in PRE_TOKENIZERS:
        return PRE_TOKENIZERS[pattern]
    if pattern.isidentifier() and pattern not in PATTERNS:
        known = ", ".join(map(repr, (*PATTERNS, *PRE_TOKENIZERS)))
        raise ArgumentError(f"pattern={pattern!r} is none of {known}, and as a regular expression it is one plain word")
    return (PatternSplit(PATTERNS.get(pattern, pattern), behavior),)
