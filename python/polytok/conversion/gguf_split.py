"""Chooses the pre-tokenizer of llama.cpp that splits text most like a Spec's split steps.

In llama.cpp, a pre-tokenizer can only be selected by its name, and its expressions differ from the patterns of the
models. If llama.cpp has a name for the Spec's pattern, that pre-tokenizer is chosen. For any other pattern, the chosen
pre-tokenizer is the one that splits the most test texts like the Spec. If it splits some of them differently, the
shortest of these texts is reported as an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .. import _core, probes
from ..errors import FormatError, PolytokError
from ..formats import gguf_pretokenizers
from ..spec import Bpe, Kind, PatternSplit, Spec, SplitStep, Vocab

_BYTE_VOCAB = Vocab.from_rows((bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256))
_MIN_SHARE_SPLIT_ALIKE = 0.8
# One name for each combination of expressions and ignore_merges: the name of the best-known model.
_PRE_TOKENIZER_NAMES = (
    *("gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "gpt-4o", "tekken", "starcoder", "falcon", "deepseek-llm"),
    *("deepseek-coder", "deepseek-v3", "command-r", "bloom", "poro-chat", "viking", "exaone-moe", "superbpe"),
    *("bailingmoe", "seed-coder", "kimi-k2", "afmoe", "laguna", "tiny_aya", "chameleon", "jais-2", "minicpm5", "youtu"),
    *("granite-embed-multi-97m", "spark2_5", "default"),
)

# Expressions that recognize the patterns of well-known models. The most specific expression is first.
_UPPER_THEN_LOWER_CASE = r"\\p\{Lu\}.*\\p\{Ll\}"
_WORD_EXPRESSION = r"\[\^\\r\\n\\p\{L\}\\p\{N\}\]\?\+?\\p\{L\}\+"
_NAME_BY_EXPRESSION = (
    (r"\\p\{Han\}", "kimi-k2"),
    (rf"{_UPPER_THEN_LOWER_CASE}(?!.*'[sS]).*\|\\p\{{N\}}\|", "tekken"),
    (rf"{_UPPER_THEN_LOWER_CASE}.*\\p\{{N\}}\{{1,3\}}", "gpt-4o"),
    (rf"{_WORD_EXPRESSION}.*\\p\{{N\}}\{{1,3\}}", "llama-bpe"),
    (rf"'[sS].*{_WORD_EXPRESSION}\|\\p\{{N\}}\|", "qwen2"),
)


@dataclass(frozen=True, slots=True)
class ChosenSplit:
    """The pre-tokenizer chosen for a Spec: its name, split steps and flags, and the losses of the choice."""

    name: str
    steps: tuple[SplitStep, ...]
    whole_piece_first: bool
    clean_spaces: bool
    losses: tuple[str, ...]


def choose_pre_tokenizer(spec: Spec) -> ChosenSplit:
    """Chooses the pre-tokenizer for the pattern, or the most similar one; raises FormatError if none is similar."""
    assert isinstance(spec.model, Bpe)
    texts = probes.DIFFICULT_TEXTS
    expected_indices = [_piece_indices(spec.split, text) for text in texts]
    candidates = []
    known_name = _name_of_known_pattern(spec.split)
    for position, name in enumerate((known_name,) if known_name else _PRE_TOKENIZER_NAMES):
        candidate = gguf_pretokenizers.find_pre_tokenizer(name)
        steps = gguf_pretokenizers.steps(candidate)
        different_texts = [
            text for text, pieces in zip(texts, expected_indices, strict=True) if _piece_indices(steps, text) != pieces
        ]
        candidates.append(
            (
                len(different_texts),
                candidate.ignore_merges != spec.model.whole_piece_first,
                position,
                name,
                different_texts,
            )
        )
    _, _, _, name, different_texts = min(candidates)
    if len(different_texts) > (1 - _MIN_SHARE_SPLIT_ALIKE) * len(texts):
        raise FormatError("llama.cpp has no pre-tokenizer that splits text similarly to this one")
    candidate = gguf_pretokenizers.find_pre_tokenizer(name)
    losses = tuple(_split_losses(name, different_texts, gguf_pretokenizers.UNICODE))
    return ChosenSplit(
        name, gguf_pretokenizers.steps(candidate), candidate.ignore_merges, candidate.clean_spaces, losses
    )


def _name_of_known_pattern(steps: tuple[SplitStep, ...]) -> str | None:
    """Returns llama.cpp's name for a model with this pattern; None for an unknown pattern."""
    if len(steps) != 1 or not isinstance(steps[0], PatternSplit):
        return None
    pattern = steps[0].pattern
    return next((name for expression, name in _NAME_BY_EXPRESSION if re.search(expression, pattern)), None)


def _split_losses(name: str, different_texts: list[str], unicode: str) -> Iterator[str]:
    yield f"split: llama.cpp's expressions for {name!r}, with the tables of Unicode {unicode}"
    if different_texts:
        yield f"split: {name!r} splits some texts differently (for example {min(different_texts, key=len)!r})"


@cache
def _tokenizer(steps: tuple[SplitStep, ...]) -> _core.Tokenizer | None:
    try:
        return _core.Tokenizer(Spec(_BYTE_VOCAB, Bpe("rank"), split=steps))
    except PolytokError:
        return None


def _piece_indices(steps: tuple[SplitStep, ...], text: str) -> list[int] | None:
    """Returns the index of the piece that contains each byte; None if the engine does not accept the steps."""
    tokenizer = _tokenizer(steps)
    return None if tokenizer is None else tokenizer.token_columns(text).words()
