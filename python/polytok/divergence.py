"""Finds where two tokenizers diverge: the first difference in a text, both results, and the stage that causes it.

The stage is found by trial: one tokenizer is given a stage of the other's Spec, and the stage that makes it agree on
the text is the cause. If no single stage does, stages are exchanged cumulatively from the front, and the stage that
brings agreement is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .errors import PolytokError
from .tokenizer import Tokenizer
from .values import Special, Text, Token

STAGES: Mapping[str, tuple[str, ...]] = {
    "special": ("special", "matching"),
    "normalize": ("normalize",),
    "split": ("split",),
    "model": ("vocab", "model", "unknown", "line"),
    "post": ("post",),
}


@dataclass(frozen=True, slots=True)
class Side:
    """One tokenizer's tokens for the differing range; ``error`` is the reason if there are none."""

    tokens: tuple[Token, ...] = ()
    error: str | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens' ids."""
        return tuple(token.id for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference in ``text``: it starts at byte ``start``, and both sides are in step again at byte ``end``.

    ``stage`` is one of `STAGES`, or None if no exchange of stages explains it.
    """

    text: bytes
    start: int
    end: int
    left: Side
    right: Side
    stage: str | None


@dataclass(slots=True)
class Comparison:
    """Compares two tokenizers. Special tokens are recognised only if ``special`` allows them.

    >>> import polytok
    >>> default = polytok.load("default")
    >>> Comparison(default, default).of("the same") is None
    True
    """

    left: Tokenizer
    right: Tokenizer
    special: Special = ()
    _mixed: dict[frozenset[str], Tokenizer | None] = field(default_factory=dict)

    def of(self, text: Text) -> Divergence | None:
        """The first difference in a text; None if the ids are the same."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        left, right = self._side(self.left, data), self._side(self.right, data)
        if (left.ids, left.error is None) == (right.ids, right.error is None):
            return None
        start, end, left, right = _first_stretch(len(data), left, right)
        return Divergence(data, start, end, left, right, self._stage(data))

    def all(self, texts: Iterable[Text]) -> Iterator[Divergence]:
        """The first difference of each text that has one."""
        return (found for text in texts if (found := self.of(text)) is not None)

    def _side(self, tokenizer: Tokenizer, text: bytes) -> Side:
        try:
            return Side(tuple(tokenizer.tokens(text, special=self.special)))
        except PolytokError as error:
            return Side(error=str(error))

    def _stage(self, text: bytes) -> str | None:
        wanted = self._side(self.right, text).ids
        names = list(STAGES)
        alone = [frozenset((name,)) for name in names]
        growing = [frozenset(names[: n + 1]) for n in range(1, len(names))]
        for stages, name in zip((*alone, *growing), (*names, *names[1:]), strict=True):
            tokenizer = self._with(stages)
            if tokenizer is not None and self._side(tokenizer, text).ids == wanted:
                return name
        return None

    def _with(self, stages: frozenset[str]) -> Tokenizer | None:
        """The left tokenizer with stages of the right one; None if they are incompatible."""
        if stages not in self._mixed:
            fields = [name for stage in stages for name in STAGES[stage]]
            changes = {name: getattr(self.right.spec, name) for name in fields}
            try:
                self._mixed[stages] = Tokenizer(replace(self.left.spec, **changes))
            except PolytokError:
                self._mixed[stages] = None
        return self._mixed[stages]


def _first_stretch(length: int, left: Side, right: Side) -> tuple[int, int, Side, Side]:
    """The range from the first different token to the next border that both sides share."""
    same = 0
    for one, other in zip(left.tokens, right.tokens, strict=False):
        if one.id != other.id:
            break
        same += 1
    rest = left.tokens[same:], right.tokens[same:]
    start = min((side[0].byte_start for side in rest if side), default=length)
    ends = [{token.byte_end for token in side} for side in rest]
    end = min((place for place in ends[0] & ends[1] if place > start), default=length)
    sides = [tuple(token for token in side if token.byte_start < end or token.byte_end <= start) for side in rest]
    return start, end, replace(left, tokens=sides[0]), replace(right, tokens=sides[1])
