"""Plain byte-level BPE, as minbpe and tiktoken have it: 256 bytes by value, then merges, then special tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ArgumentError
from ..spec import Bpe, Origin, Spec, SpecialToken, SplitStep
from .bpe_learning import Learnt, Progress, Rules, Units, Verbose, learn
from .counting import Counts

_BYTES = [bytes([byte]) for byte in range(256)]


@dataclass(frozen=True, slots=True)
class PlainBytes:
    """The options, checked. ``special`` are texts with ids, or None if they get the last ids."""

    sizes: tuple[int, ...]
    special: Mapping[str, int | None]
    first_seen: bool
    min_frequency: int
    max_token_length: int | None

    def __post_init__(self) -> None:
        least = len(_BYTES) + self._counted
        if min(self.sizes) < least:
            raise ArgumentError(f"vocab_size must be at least {least}: 256 bytes and {self._counted} special tokens")
        for text, id in self.special.items():
            if id is not None and id < max(self.sizes):
                raise ArgumentError(
                    f"special_tokens: the id {id} of {text!r} is an entry's: take ids from {max(self.sizes)}"
                )

    @property
    def _counted(self) -> int:
        """Special tokens that count as entries."""
        return sum(id is None for id in self.special.values())

    def learn(self, counts: Counts, progress: Progress | None, verbose: Verbose | None) -> Learnt:
        """The merges for the largest size."""
        size = max(self.sizes) - self._counted
        longest = None if self.max_token_length is None else self.max_token_length + 1
        rules = Rules(size, self.min_frequency, longest, self.first_seen, counts.room)
        learnt = learn(counts.counter(), Units("bytes"), _BYTES, rules, progress, verbose)
        if len(learnt) < size:
            most = len(learnt) + self._counted
            raise ArgumentError(
                f"the texts allow {len(learnt.merges)} merges, not {size - len(_BYTES)}: lower vocab_size to {most} "
                f"(from {len(_BYTES) + self._counted} on it can be), or give more text"
            )
        return learnt

    def specs(self, learnt: Learnt, split: tuple[SplitStep, ...]) -> list[Spec]:
        """The result for each size."""
        return [self._spec(learnt.cut(size - self._counted), split) for size in self.sizes]

    def _spec(self, learnt: Learnt, split: tuple[SplitStep, ...]) -> Spec:
        ids = iter(range(len(learnt), len(learnt) + self._counted))
        special = tuple(SpecialToken(text, next(ids) if id is None else id) for text, id in self.special.items())
        return Spec(
            vocab=learnt.vocab(),
            model=Bpe("merges", merges=learnt.merges),
            special=special,
            matching="listed" if self.first_seen else "longest",
            split=split,
            origin=Origin("minbpe" if self.first_seen else "trained"),
        )
