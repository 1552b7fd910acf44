"""Finds known mistakes in split patterns, and vocabularies that were trained with another pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .. import _core
from ..columns import has_kind
from ..errors import PolytokError
from ..pattern_coverage import covers_all_text
from ..spec import BytesDecode, Kind, PatternSplit, Spec, Template, merges_bytes
from ..utf8 import is_utf8, text_or_bytes
from .finding import Finding, Severity, format_examples

_REGEX_SYNTAX = re.compile(r"\\[pPsSwWdDbB]|\(\?|\[\^|\]\+")
_MISTRAL_TOKENS = {"[INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]"}
_OTHER_MODEL_PATTERN = re.compile(r"'\(?\??\(?[iI]?:?\[?[sS]|\\p\{N\}\{1,3\}")
_SAMPLE_SIZE = 20_000
_MAX_SPLIT_SHARE = 0.002
"""The share of entries that a pattern can split.

Of 100,000 entries of a published vocabulary, its own pattern splits at most one; another pattern splits 1,000 or more.
"""
_VISIBLE = (*map(chr, range(0x21, 0x7F)), *"éßяλאعहกの日한€—。😀")


def find_literal_pattern(spec: Spec) -> Iterator[Finding]:
    """Finds a split pattern that looks like a regular expression but is searched as plain text."""
    for step in spec.split:
        if isinstance(step, PatternSplit) and not step.is_regex and _REGEX_SYNTAX.search(step.pattern):
            yield Finding(
                "literal-pattern",
                Severity.ERROR,
                f"the split pattern is searched as plain text: {step.pattern:.80}",
                'it looks like a regular expression; in tokenizer.json write {"Regex": ...} instead of {"String": ...}',
            )


def find_mistral_pattern(spec: Spec) -> Iterator[Finding]:
    """Finds Mistral's tekken vocabulary with the pattern of Llama 3 or GPT-4o, an error of some converted files."""
    texts = {token.text for token in spec.special} | {
        text_or_bytes(spec.vocab.piece(int(row)))
        for row in np.flatnonzero(has_kind(spec.vocab.kinds, Kind.CONTROL))[:2000]
    }
    patterns = [step.pattern for step in spec.split if isinstance(step, PatternSplit)]
    has_tekken_tokens = merges_bytes(spec.model) and len(texts & _MISTRAL_TOKENS) > 1
    if has_tekken_tokens and any(map(_OTHER_MODEL_PATTERN.search, patterns)):
        yield Finding(
            "mistral-pattern",
            Severity.ERROR,
            (
                "a Mistral vocabulary is split with another model's pattern: it splits numbers into threes, or splits "
                "off contractions"
            ),
            "use the pattern in the model's tekken.json (transformers: fix_mistral_regex=True)",
        )


def find_dropped_text(spec: Spec) -> Iterator[Finding]:
    """Finds patterns that drop the text between matches and do not provably match all text, and patterns that remove
    more than white space."""
    for step in spec.split:
        can_drop = isinstance(step, PatternSplit) and step.behavior == "matches" and not step.invert
        if can_drop and isinstance(step, PatternSplit) and not covers_all_text(step):
            yield Finding(
                "drops-text",
                Severity.WARNING,
                "the split pattern does not provably match all text, and text that it does not match is dropped: "
                f"{step.pattern:.80}",
                r"end the pattern with an alternative for everything else, such as |\s+|[^\s]",
            )
        elif isinstance(step, PatternSplit) and (characters := _removed_characters(spec, step)):
            yield Finding(
                "drops-text",
                Severity.WARNING,
                f"the split drops text that is not white space ({format_examples(characters)}), so no id stands for "
                f"it: {step.pattern:.80}",
                'write the behavior "Isolated" instead of "Removed", or a pattern that matches only white space',
            )


def _removed_characters(spec: Spec, step: PatternSplit) -> list[str]:
    """Returns the characters that have ids, but none after a step that removes text: letters, digits and symbols."""
    if step.behavior != "removed" and not (step.behavior == "matches" and step.invert):
        return []
    plain_spec = replace(spec, special=(), normalize=(), split=(), post=Template(), decode=BytesDecode())
    try:
        all_text, remaining_text = _core.Tokenizer(plain_spec), _core.Tokenizer(replace(plain_spec, split=(step,)))
        return [text for text in _VISIBLE if _has_ids(all_text, text) and not _has_ids(remaining_text, text)]
    except PolytokError:
        return []


def _has_ids(tokenizer: _core.Tokenizer, text: str) -> bool:
    return _piece_count(tokenizer, text.encode()) > 0


def find_foreign_pattern(spec: Spec) -> Iterator[Finding]:
    """Finds a pattern that splits many entries of the vocabulary: the vocabulary was trained with another pattern.

    The text of each entry is split on its own. An entry whose text is split into several pieces is hardly ever
    produced. If the pattern looks ahead, every vocabulary has a few such entries.
    """
    if not merges_bytes(spec.model) or not any(isinstance(step, PatternSplit) for step in spec.split):
        return
    split_result = _split_entries(spec)
    if split_result is None:
        return
    split_entries, examined_count = split_result
    if len(split_entries) > examined_count * _MAX_SPLIT_SHARE:
        yield Finding(
            "pattern-not-of-vocabulary",
            Severity.WARNING,
            f"the split pattern splits {len(split_entries)} of {examined_count} entries "
            f"({format_examples(map(text_or_bytes, split_entries))}), which "
            "therefore are hardly ever produced",
            "the vocabulary was trained with another pattern; use the pattern of its model",
        )


def _split_entries(spec: Spec) -> tuple[list[bytes], int] | None:
    """Returns the entries that are split into several pieces, and the number of entries examined."""
    plain_spec = replace(spec, special=(), normalize=(), post=Template(), decode=BytesDecode())
    rows = np.flatnonzero(has_kind(spec.vocab.kinds, Kind.NORMAL))
    rows = rows[:: max(1, len(rows) // _SAMPLE_SIZE)]
    texts = [text for row in rows if _is_text(text := spec.vocab.piece(int(row)))]
    try:
        tokenizer = _core.Tokenizer(plain_spec)
        return [text for text in texts if _piece_count(tokenizer, text) > 1], len(texts)
    except PolytokError:
        return None


def _piece_count(tokenizer: _core.Tokenizer, text: bytes) -> int:
    return max(tokenizer.token_columns(text).words(), default=-1) + 1


def _is_text(piece: bytes) -> bool:
    return bool(piece) and is_utf8(piece)


def find_end_anchor(spec: Spec) -> Iterator[Finding]:
    """Finds ``$`` in a pattern. ``$`` matches the end of the text, so splitting a text in two changes its tokens."""
    for step in spec.split:
        if isinstance(step, PatternSplit) and step.is_regex and re.search(r"(?<!\\)\$(?![^\[]*\])", step.pattern):
            yield Finding(
                "end-anchor",
                Severity.NOTE,
                "the split pattern matches the end of the text, so white space at the end is split differently",
                "do not encode parts of a text and join the ids; the text before a special token is such a part",
            )
