"""Chooses the pre-tokenizer of llama.cpp that splits text most like a Spec's split steps.

llama.cpp selects a pre-tokenizer only by name, and its expressions differ from the patterns of the models. If a name
exists for the Spec's pattern, that pre-tokenizer is chosen, with the flags that the model needs. For any other pattern,
the chosen pre-tokenizer is the one that splits the most test texts like the Spec. A text that is split differently is
reported as an example.
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

_BYTES = Vocab.from_rows((bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256))
_MIN_SHARE_ALIKE = 0.8
# One name for each list of expressions, with and without ignore_merges: the name of the best-known model.
_NAMES = (
    *("gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "gpt-4o", "tekken", "starcoder", "falcon", "deepseek-llm"),
    *("deepseek-coder", "deepseek-v3", "command-r", "bloom", "poro-chat", "viking", "exaone-moe", "superbpe"),
    *("bailingmoe", "seed-coder", "kimi-k2", "afmoe", "laguna", "tiny_aya", "chameleon", "jais-2", "minicpm5", "youtu"),
    *("granite-embed-multi-97m", "spark2_5", "default"),
)

# Expressions that recognise the patterns of well-known models, the most specific expressions first.
_UPPER_THEN_LOWER = r"\\p\{Lu\}.*\\p\{Ll\}"
_WORDS = r"\[\^\\r\\n\\p\{L\}\\p\{N\}\]\?\+?\\p\{L\}\+"
_NAME_BY_EXPRESSION = (
    (r"\\p\{Han\}", "kimi-k2"),
    (rf"{_UPPER_THEN_LOWER}(?!.*'[sS]).*\|\\p\{{N\}}\|", "tekken"),
    (rf"{_UPPER_THEN_LOWER}.*\\p\{{N\}}\{{1,3\}}", "gpt-4o"),
    (rf"{_WORDS}.*\\p\{{N\}}\{{1,3\}}", "llama-bpe"),
    (rf"'[sS].*{_WORDS}\|\\p\{{N\}}\|", "qwen2"),
)


@dataclass(frozen=True, slots=True)
class ChosenSplit:
    """A chosen pre-tokenizer: its name, its steps and flags, and its losses against the Spec."""

    name: str
    steps: tuple[SplitStep, ...]
    whole_piece_first: bool
    clean_spaces: bool
    losses: tuple[str, ...]


def choose_pre_tokenizer(spec: Spec) -> ChosenSplit:
    """Returns the pre-tokenizer for the pattern, or the most similar one; raises FormatError if none is similar."""
    assert isinstance(spec.model, Bpe)
    texts = probes.DIFFICULT_TEXTS
    expected_indices = [_piece_indices(spec.split, text) for text in texts]
    candidates = []
    known_name = _known_name(spec.split)
    for order, name in enumerate((known_name,) if known_name else _NAMES):
        candidate = gguf_pretokenizers.find_pre_tokenizer(name)
        steps = gguf_pretokenizers.steps(candidate)
        different_texts = [
            text for text, pieces in zip(texts, expected_indices, strict=True) if _piece_indices(steps, text) != pieces
        ]
        candidates.append(
            (
                len(different_texts),
                candidate.ignore_merges != spec.model.whole_piece_first,
                order,
                name,
                different_texts,
            )
        )
    _, _, _, name, different_texts = min(candidates)
    if len(different_texts) > (1 - _MIN_SHARE_ALIKE) * len(texts):
        raise FormatError("llama.cpp has no pre-tokenizer that splits text similarly to this one")
    candidate = gguf_pretokenizers.find_pre_tokenizer(name)
    losses = tuple(_losses(name, different_texts, gguf_pretokenizers.UNICODE))
    return ChosenSplit(
        name, gguf_pretokenizers.steps(candidate), candidate.ignore_merges, candidate.clean_spaces, losses
    )


def _known_name(steps: tuple[SplitStep, ...]) -> str | None:
    """Returns the name that converters choose for a model with this pattern; None for an unknown pattern."""
    if len(steps) != 1 or not isinstance(steps[0], PatternSplit):
        return None
    pattern = steps[0].pattern
    return next((name for expression, name in _NAME_BY_EXPRESSION if re.search(expression, pattern)), None)


def _losses(name: str, different_texts: list[str], unicode: str) -> Iterator[str]:
    yield f"split: llama.cpp's expressions for {name!r}, with the tables of Unicode {unicode}"
    if different_texts:
        yield f"split: {name!r} splits some texts differently (for example {min(different_texts, key=len)!r})"


@cache
def _tokenizer(steps: tuple[SplitStep, ...]) -> _core.Tokenizer | None:
    try:
        return _core.Tokenizer(Spec(_BYTES, Bpe("rank"), split=steps))
    except PolytokError:
        return None


def _piece_indices(steps: tuple[SplitStep, ...], text: str) -> list[int] | None:
    """Returns for each byte the index of its piece; None if the engine does not accept the steps."""
    tokenizer = _tokenizer(steps)
    if tokenizer is None:
        return None
    numbers: list[int] = tokenizer.token_columns(text).words.tolist()
    return numbers
