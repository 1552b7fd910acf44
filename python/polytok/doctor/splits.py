"""Split patterns: known mistakes, and patterns that are not the one the vocabulary was trained with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .. import _core
from ..errors import PolytokError
from ..pattern_coverage import covers_all_text
from ..spec import Bpe, BytesDecode, Kind, PatternSplit, Spec, Template
from .finding import Finding, Severity, examples, shown

_REGEX_SIGNS = re.compile(r"\\[pPsSwWdDbB]|\(\?|\[\^|\]\+")
_MISTRAL_TOKENS = {"[INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]"}
_NOT_FOR_MISTRAL = re.compile(r"'\(?\??\(?[iI]?:?\[?[sS]|\\p\{N\}\{1,3\}")
_SAMPLE = 20_000
_MOST_CUT = 0.002
"""Of 100,000 entries of a published vocabulary, its own pattern splits at most one; another's splits 1,000 or more."""


def literal_pattern(spec: Spec) -> Iterator[Finding]:
    """A regular expression that is searched for as plain text."""
    for step in spec.split:
        if isinstance(step, PatternSplit) and not step.is_regex and _REGEX_SIGNS.search(step.pattern):
            yield Finding(
                "literal-pattern",
                Severity.ERROR,
                f"the split pattern is searched for as a plain text: {step.pattern:.80}",
                'it looks like a regular expression; in tokenizer.json write {"Regex": ...} instead of {"String": ...}',
            )


def mistral_pattern(spec: Spec) -> Iterator[Finding]:
    """Mistral's tekken vocabulary with Llama 3's or GPT-4o's pattern, as converted files had it."""
    texts = {token.text for token in spec.special} | {
        shown(spec.vocab.piece(int(row))) for row in np.flatnonzero(spec.vocab.kinds == Kind.CONTROL)[:2000]
    }
    patterns = [step.pattern for step in spec.split if isinstance(step, PatternSplit)]
    is_bytes = isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
    if is_bytes and len(texts & _MISTRAL_TOKENS) > 1 and any(map(_NOT_FOR_MISTRAL.search, patterns)):
        yield Finding(
            "mistral-pattern",
            Severity.ERROR,
            "a Mistral vocabulary is split with another model's pattern: numbers by three, or contractions apart",
            "take the pattern of the tekken.json that belongs to the model (transformers: fix_mistral_regex=True)",
        )


def drops_text(spec: Spec) -> Iterator[Finding]:
    """Patterns that drop gaps, and that can leave some."""
    for step in spec.split:
        drops = isinstance(step, PatternSplit) and step.behavior == "matches" and not step.invert
        if drops and isinstance(step, PatternSplit) and not covers_all_text(step):
            yield Finding(
                "drops-text",
                Severity.WARNING,
                "the split pattern is not known to match all text, and what it does not match is dropped: "
                f"{step.pattern:.80}",
                r"end the pattern with an alternative for everything else, such as |\s+|[^\s]",
            )


def pattern_and_vocabulary(spec: Spec) -> Iterator[Finding]:
    """A pattern that splits the vocabulary's own entries is not the one that the vocabulary was trained with.

    Each entry's text is split on its own. No text of which a split entry is a piece produces it; if the pattern looks
    ahead, every vocabulary has a few of them.
    """
    merges_bytes = isinstance(spec.model, Bpe) and spec.model.symbols == "bytes"
    if not merges_bytes or not any(isinstance(step, PatternSplit) for step in spec.split):
        return
    found = _cut_entries(spec)
    if found is None:
        return
    cut, looked_at = found
    if len(cut) > looked_at * _MOST_CUT:
        yield Finding(
            "pattern-not-of-vocabulary",
            Severity.WARNING,
            f"the split pattern cuts {len(cut)} of {looked_at} entries apart ({examples(map(shown, cut))}), which so "
            "can hardly come out of a text",
            "the vocabulary was trained with another pattern; find the one that its model was trained with",
        )


def _cut_entries(spec: Spec) -> tuple[list[bytes], int] | None:
    """The entries that are more than one piece, and the number of entries examined."""
    plain = replace(spec, special=(), normalize=(), post=Template(), decode=BytesDecode())
    rows = np.flatnonzero(spec.vocab.kinds == Kind.NORMAL)
    rows = rows[:: max(1, len(rows) // _SAMPLE)]
    texts = [text for row in rows if _is_text(text := spec.vocab.piece(int(row)))]
    try:
        tokenizer = _core.Tokenizer(plain)
        return [text for text in texts if _pieces(tokenizer, text) > 1], len(texts)
    except PolytokError:
        return None


def _pieces(tokenizer: _core.Tokenizer, text: bytes) -> int:
    return int(tokenizer.token_columns(text).words.max(initial=-1)) + 1


def _is_text(piece: bytes) -> bool:
    return bool(piece) and isinstance(shown(piece), str)


def end_of_text(spec: Spec) -> Iterator[Finding]:
    """``$`` in a pattern means the end of the text to split, so splitting a text in two changes its tokens."""
    for step in spec.split:
        if isinstance(step, PatternSplit) and step.is_regex and re.search(r"(?<!\\)\$(?![^\[]*\])", step.pattern):
            yield Finding(
                "end-anchor",
                Severity.NOTE,
                "the split pattern looks for the end of the text, so white space there is cut differently",
                "do not encode a text in parts and join the ids; text before a special token is such a part",
            )
