"""Converts the option ``pattern`` to steps of a Spec that split texts into words."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..keywords import keyword
from ..patterns import PatternName, resolve
from ..spec import Behavior, PatternSplit, SplitStep
from .options import check_steps, check_text

Pattern = PatternName | str | Sequence[SplitStep] | None


def split_steps(pattern: Pattern, behavior: Behavior) -> tuple[SplitStep, ...]:
    """Returns the split steps of a named pattern or of a regular expression.

    An argument that already consists of split steps is returned unchanged.

    ``behavior`` defines how text between the matches of a regular expression is split. Raises `ArgumentError` for a
    value of another type, and for the name of an unknown pattern.

    >>> split_steps("whitespace_split", "matches")[0].pattern, split_steps("a+", "matches")[0].pattern
    ('\\\\s', 'a+')
    """
    if pattern is None:
        return ()
    if not isinstance(pattern, (str, Sequence)):
        raise ArgumentError(f"{keyword('pattern', pattern)} is neither a text nor a list of steps of a Spec")
    if not isinstance(pattern, str):
        return check_steps("pattern", pattern)
    check_text("pattern", pattern)
    steps = resolve(pattern)
    return (PatternSplit(steps, behavior),) if isinstance(steps, str) else steps
