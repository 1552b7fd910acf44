"""Split steps of one kind as the same steps of another.

* A pattern that provably matches all text leaves no gaps, so that ``matches`` and ``isolated`` are the same.
* The gap behind a match of P goes to the next place where P matches: ``(?:(?!P)(?s:.))+``. So where P cannot match the
  empty text, ``P|(?:(?!P)(?s:.))+`` is P isolated.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import FormatError
from ..pattern_coverage import covers_all_text, never_empty
from ..spec import PatternSplit, SplitStep


def as_matches(steps: tuple[SplitStep, ...], format_name: str) -> tuple[PatternSplit, ...]:
    """At most one pattern whose matches are the pieces, or FormatError."""
    if not steps:
        return ()
    if len(steps) > 1:
        raise FormatError(f"{format_name} has one split pattern at most, and {len(steps)} steps cannot be put into one")
    step = steps[0]
    if not isinstance(step, PatternSplit) or not step.is_regex:
        raise FormatError(f"{format_name} splits with one regular expression, not as {step!r:.100} does")
    behavior = _without_invert(step)
    pattern = step.pattern
    if behavior == "isolated" and covers_all_text(step):
        behavior = "matches"
    if behavior != "matches":
        if behavior != "isolated" or not never_empty(step):
            raise FormatError(
                f"{format_name} takes the matches of its pattern; {behavior} cannot be put so: {pattern:.100}"
            )
        pattern = f"{pattern}|(?:(?!{pattern})(?s:.))+"
    return (replace(step, pattern=pattern, behavior="matches", invert=False),)


def as_isolated(step: PatternSplit) -> PatternSplit:
    """The step without gaps to drop, if its pattern provably has none; else as it is."""
    if step.behavior == "matches" and not step.invert and covers_all_text(step):
        return replace(step, behavior="isolated")
    return step


def _without_invert(step: PatternSplit) -> str:
    swapped = {"matches": "removed", "removed": "matches"}
    return swapped.get(step.behavior, step.behavior) if step.invert else step.behavior
