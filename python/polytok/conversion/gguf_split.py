"""Which of llama.cpp's pre-tokenizers cuts text as a Spec's split steps do.

llama.cpp knows a pre-tokenizer by its name only, and its expressions are not those of the models. A pattern that a name
is made for gets that name, with which come the flags that the model needs; for another one, that which cuts most texts
alike is taken. A text that is cut in another way is told as an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .. import _core, probes
from ..errors import FormatError, PolytokError
from ..formats import gguf_pretokenizers as known
from ..spec import Bpe, Kind, PatternSplit, Spec, SplitStep, Vocab

_BYTES = Vocab.from_rows((bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256))
_LEAST_ALIKE = 0.8
# One name for each list of expressions, with and without merges ignored: the best-known model's.
_NAMES = (
    *("gpt-2", "llama-bpe", "dbrx", "qwen2", "qwen35", "gpt-4o", "tekken", "starcoder", "falcon", "deepseek-llm"),
    *("deepseek-coder", "deepseek-v3", "command-r", "bloom", "poro-chat", "viking", "exaone-moe", "superbpe"),
    *("bailingmoe", "seed-coder", "kimi-k2", "afmoe", "laguna", "tiny_aya", "chameleon", "jais-2", "minicpm5", "youtu"),
    *("granite-embed-multi-97m", "spark2_5", "default"),
)

# What tells the patterns of well-known models apart, from the special to the general.
_CASED = r"\\p\{Lu\}.*\\p\{Ll\}"
_WORDS = r"\[\^\\r\\n\\p\{L\}\\p\{N\}\]\?\+?\\p\{L\}\+"
_SIGNS = (
    (r"\\p\{Han\}", "kimi-k2"),
    (rf"{_CASED}(?!.*'[sS]).*\|\\p\{{N\}}\|", "tekken"),
    (rf"{_CASED}.*\\p\{{N\}}\{{1,3\}}", "gpt-4o"),
    (rf"{_WORDS}.*\\p\{{N\}}\{{1,3\}}", "llama-bpe"),
    (rf"'[sS].*{_WORDS}\|\\p\{{N\}}\|", "qwen2"),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pre-tokenizer: its name, what it does, and what it does not do as wanted."""

    name: str
    steps: tuple[SplitStep, ...]
    whole_piece_first: bool
    clean_spaces: bool
    losses: tuple[str, ...]


def nearest(spec: Spec) -> Chosen:
    """The pre-tokenizer made for the pattern, or that which cuts most texts alike; FormatError if none comes near."""
    assert isinstance(spec.model, Bpe)
    texts = probes.TROUBLE
    wanted = [_cuts(spec.split, text) for text in texts]
    scored = []
    usual = _usual(spec.split)
    for order, name in enumerate((usual,) if usual else _NAMES):
        found = known.named(name)
        steps = known.steps(found)
        different = [text for text, cuts in zip(texts, wanted, strict=True) if _cuts(steps, text) != cuts]
        scored.append((len(different), found.ignore_merges != spec.model.whole_piece_first, order, name, different))
    _, _, _, name, different = min(scored)
    if len(different) > (1 - _LEAST_ALIKE) * len(texts):
        raise FormatError("llama.cpp has no pre-tokenizer that cuts text nearly as this one does")
    found = known.named(name)
    losses = tuple(_losses(name, different, known.UNICODE))
    return Chosen(name, known.steps(found), found.ignore_merges, found.clean_spaces, losses)


def _usual(steps: tuple[SplitStep, ...]) -> str | None:
    """The name that converters give a model with this pattern."""
    if len(steps) != 1 or not isinstance(steps[0], PatternSplit):
        return None
    pattern = steps[0].pattern
    return next((name for sign, name in _SIGNS if re.search(sign, pattern)), None)


def _losses(name: str, different: list[str], unicode: str) -> Iterator[str]:
    yield f"split: as llama.cpp does for {name!r}, by expressions of its own and the characters of Unicode {unicode}"
    if different:
        yield f"split: {name!r} cuts some texts in another way (for example {min(different, key=len)!r})"


@cache
def _tokenizer(steps: tuple[SplitStep, ...]) -> _core.Tokenizer | None:
    try:
        return _core.Tokenizer(Spec(_BYTES, Bpe("rank"), split=steps))
    except PolytokError:
        return None


def _cuts(steps: tuple[SplitStep, ...], text: str) -> list[int] | None:
    """The number of the piece of each byte."""
    tokenizer = _tokenizer(steps)
    if tokenizer is None:
        return None
    found: list[int] = tokenizer.token_columns(text).words.tolist()
    return found
