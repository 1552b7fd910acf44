"""Compares the pipelines of two tokenizers, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from ..spec import Bpe, Model, Spec
from ..tokenizer import Tokenizer
from .words import words_of, words_of_template, words_of_vocab


class StepDifference(NamedTuple):
    """A step of a stage that is in only one of the pipelines, or differs: what each tokenizer does, in words; None if
    it has no such step.

    ``stage`` is ``special``, ``normalize``, ``split``, ``model``, ``post`` or ``decode``.
    """

    stage: str
    left: str | None
    right: str | None


def compare_steps(left: Tokenizer, right: Tokenizer) -> tuple[StepDifference, ...]:
    """Returns the differing steps in the order of the pipeline. Entries, merges and special tokens are not compared."""
    return tuple(_differences(left.spec, right.spec))


def _differences(left: Spec, right: Spec) -> Iterator[StepDifference]:
    yield from _named_values("special", "if several tokens match, the choice is", left.matching, right.matching)
    yield from _of_steps("normalize", left.normalize, right.normalize)
    yield from _of_steps("split", left.split, right.split)
    if len(left.vocab) != len(right.vocab):
        yield StepDifference("model", words_of_vocab(left), words_of_vocab(right))
    yield from _of_steps("model", [_without_merges(left.model)], [_without_merges(right.model)])
    yield from _named_values("model", "text without an entry:", left.unknown, right.unknown)
    has_versions = "sentencepiece" in (left.origin.format, right.origin.format)
    if has_versions:
        versions = left.sentencepiece_version, right.sentencepiece_version
        yield from _named_values("model", "as SentencePiece", *versions)
    if left.post != right.post:
        yield StepDifference("post", words_of_template(left.post, left), words_of_template(right.post, right))
    if left.trim != right.trim:
        sides = [None if spec.trim is None else "spans without white space at the ends" for spec in (left, right)]
        if sides[0] == sides[1]:
            sides = [f"{side}, {spec.trim}" for side, spec in zip(sides, (left, right), strict=True)]
        yield StepDifference("post", *sides)
    yield from _of_steps("decode", [left.decode], [right.decode])


def _named_values(stage: str, name: str, left: str, right: str) -> Iterator[StepDifference]:
    if left != right:
        yield StepDifference(stage, f"{name} {left}", f"{name} {right}")


def _without_merges(model: Model) -> Model:
    return replace(model, merges=None) if isinstance(model, Bpe) else model


def _of_steps(stage: str, left: Sequence[Any], right: Sequence[Any]) -> Iterator[StepDifference]:
    """Yields the steps that differ, each with the step of the other side in its place."""
    matcher = SequenceMatcher(None, list(map(repr, left)), list(map(repr, right)), autojunk=False)
    for operation, start, stop, right_start, right_stop in matcher.get_opcodes():
        if operation != "equal":
            for step, other in zip_longest(left[start:stop], right[right_start:right_stop]):
                sides = [None if side is None else words_of(side) for side in (step, other)]
                yield StepDifference(stage, *sides)
