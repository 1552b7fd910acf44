"""Converts split steps to equivalent steps of another behavior.

* A pattern that provably matches all text has no gaps, so ``matches`` and ``isolated`` are equivalent.
* The gap after a match of a pattern P extends to the next match of P: ``(?:(?!P)(?s:.))+``. So if P cannot match the
  empty text, the matches of ``P|(?:(?!P)(?s:.))+`` are the pieces of P with the behavior ``isolated``.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import FormatError
from ..pattern_coverage import covers_all_text, never_empty
from ..spec import PatternSplit, SplitStep


def as_matches(steps: tuple[SplitStep, ...], format_name: str) -> tuple[PatternSplit, ...]:
    """Returns one equivalent step whose matches are the pieces, or no step for no steps; raises FormatError
    otherwise."""
    if not steps:
        return ()
    if len(steps) > 1:
        raise FormatError(
            f"{format_name} has at most one split pattern, and {len(steps)} steps cannot be combined into one"
        )
    step = steps[0]
    if not isinstance(step, PatternSplit) or not step.is_regex:
        raise FormatError(f"{format_name} splits by one regular expression; it cannot express {step!r:.100}")
    behavior = _behavior_without_invert(step)
    pattern = step.pattern
    if behavior == "isolated" and covers_all_text(step):
        behavior = "matches"
    if behavior != "matches":
        if behavior != "isolated" or not never_empty(step):
            raise FormatError(
                f"{format_name}'s pieces are the matches of its pattern; it cannot express {behavior}: {pattern:.100}"
            )
        pattern = f"{pattern}|(?:(?!{pattern})(?s:.))+"
    return (replace(step, pattern=pattern, behavior="matches", invert=False),)


def as_isolated(step: PatternSplit) -> PatternSplit:
    """Changes the behavior of a step to ``isolated`` if its pattern provably leaves no gaps."""
    if step.behavior == "matches" and not step.invert and covers_all_text(step):
        return replace(step, behavior="isolated")
    return step


def _behavior_without_invert(step: PatternSplit) -> str:
    opposite_behavior = {"matches": "removed", "removed": "matches"}
    return opposite_behavior.get(step.behavior, step.behavior) if step.invert else step.behavior
