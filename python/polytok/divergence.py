"""Finds the first divergence of two tokenizers in a text: the range, both results, and the stage that causes it.

The stage is found by trial: a stage of the left Spec is replaced with the same stage of the right Spec. If the
tokenizers then agree on the text, the replaced stage is the cause. If no single replacement makes them agree, the first
two stages are replaced, then the first three, and so on; the stage that was added last is the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .errors import PolytokError
from .loading import AnyTokenizer, as_tokenizer
from .tokenizer import Tokenizer
from .utf8 import bytes_with_surrogates
from .values import Special, Text, Token

STAGES: Mapping[str, tuple[str, ...]] = {
    "special": ("special", "matching"),
    "normalize": ("normalize",),
    "split": ("split",),
    "model": ("vocab", "model", "unknown", "sentencepiece_version"),
    "post": ("post",),
}


@dataclass(frozen=True, slots=True)
class DivergentSide:
    """The tokens of one tokenizer in the divergent range, or the error if the tokenizer refuses the text."""

    tokens: tuple[Token, ...] = ()
    error: str | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the tokens."""
        return tuple(token.id for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first divergence in ``text``: bytes ``start`` to ``end``; ``end`` is the next boundary that both tokenizers
    share.

    ``stage`` is a key of `STAGES`, or None if no replacement of stages explains the divergence. ``index`` is the index
    of ``text`` among the texts that were compared.
    """

    text: bytes
    start: int
    end: int
    left: DivergentSide
    right: DivergentSide
    stage: str | None
    index: int = 0


class Comparison:
    """Compares two tokenizers, or what `polytok.load` accepts, text by text.

    Special tokens are recognized only if ``special`` allows them.

    >>> import polytok
    >>> Comparison(polytok.load("default"), "default").divergence_in("the same") is None
    True
    """

    def __init__(self, left: AnyTokenizer, right: AnyTokenizer, special: Special = ()) -> None:
        self.left, self.right, self.special = as_tokenizer(left), as_tokenizer(right), special
        self._hybrid_of_stages: dict[frozenset[str], Tokenizer | None] = {}

    def divergence_in(self, text: Text) -> Divergence | None:
        """Returns the first divergence in a text; None if the ids are the same."""
        data = bytes_with_surrogates(text)
        left, right = self._tokens_of(self.left, data), self._tokens_of(self.right, data)
        if (left.ids, left.error is None) == (right.ids, right.error is None):
            return None
        start, end, left, right = _divergent_range(len(data), left, right)
        return Divergence(data, start, end, left, right, self._find_stage(data))

    def divergences_in(self, texts: Iterable[Text]) -> Iterator[Divergence]:
        """Yields the first divergence of each text whose ids differ."""
        for index, text in enumerate(texts):
            if divergence := self.divergence_in(text):
                yield replace(divergence, index=index)

    def _tokens_of(self, tokenizer: Tokenizer, text: bytes) -> DivergentSide:
        try:
            return DivergentSide(tuple(tokenizer.tokens(text, special=self.special)))
        except PolytokError as error:
            return DivergentSide(error=str(error))

    def _find_stage(self, text: bytes) -> str | None:
        expected_ids = self._tokens_of(self.right, text).ids
        stage_names = list(STAGES)
        single_stage_sets = [frozenset((name,)) for name in stage_names]
        leading_stage_sets = [frozenset(stage_names[: n + 1]) for n in range(1, len(stage_names))]
        for stages, name in zip(
            (*single_stage_sets, *leading_stage_sets), (*stage_names, *stage_names[1:]), strict=True
        ):
            tokenizer = self._build_hybrid(stages)
            if tokenizer is not None and self._tokens_of(tokenizer, text).ids == expected_ids:
                return name
        return None

    def _build_hybrid(self, stages: frozenset[str]) -> Tokenizer | None:
        """Returns the left tokenizer with these stages of the right tokenizer; None if the stages are incompatible."""
        if stages not in self._hybrid_of_stages:
            fields = [name for stage in stages for name in STAGES[stage]]
            replaced_fields = {name: getattr(self.right.spec, name) for name in fields}
            try:
                self._hybrid_of_stages[stages] = Tokenizer(replace(self.left.spec, **replaced_fields))
            except PolytokError:
                self._hybrid_of_stages[stages] = None
        return self._hybrid_of_stages[stages]


def _divergent_range(
    length: int, left: DivergentSide, right: DivergentSide
) -> tuple[int, int, DivergentSide, DivergentSide]:
    """Returns the range from the first different token to the next shared boundary, and the tokens in the range."""
    shared_token_count = 0
    for left_token, right_token in zip(left.tokens, right.tokens, strict=False):
        if left_token.id != right_token.id:
            break
        shared_token_count += 1
    remaining_tokens = left.tokens[shared_token_count:], right.tokens[shared_token_count:]
    start = min((side[0].byte_start for side in remaining_tokens if side), default=length)
    ends = [{token.byte_end for token in side} for side in remaining_tokens]
    end = min((position for position in ends[0] & ends[1] if position > start), default=length)
    sides = [
        tuple(token for token in side if token.byte_start < end or token.byte_end <= start) for side in remaining_tokens
    ]
    return start, end, replace(left, tokens=sides[0]), replace(right, tokens=sides[1])
