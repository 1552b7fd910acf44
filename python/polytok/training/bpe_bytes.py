"""Plain byte-level BPE, as in minbpe and tiktoken: the first ids are the 256 bytes, then merges, then special
tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ArgumentError
from ..keywords import keyword
from ..spec import Bpe, Origin, Spec, SpecialToken, SplitStep
from .bpe_learning import LearnedMerges, LearningOptions, PrintFunction, ProgressFunction, SymbolOptions, learn
from .counting import Counts

_BYTES = [bytes([byte]) for byte in range(256)]


@dataclass(frozen=True, slots=True)
class PlainByteBpe:
    """The checked options of plain byte-level BPE.

    ``special`` maps the texts of special tokens to ids, or to None for special tokens that get the last ids.
    ``first_seen`` is true if the pair that occurs first is merged first, as minbpe does.
    """

    sizes: tuple[int, ...]
    special: Mapping[str, int | None]
    first_seen: bool
    min_frequency: int
    max_token_length: int | None

    def __post_init__(self) -> None:
        min_size = len(_BYTES) + self._special_count
        if min(self.sizes) < min_size:
            raise ArgumentError(
                f"{keyword('vocab_size')} must be at least {min_size}: 256 bytes and {self._special_count} special "
                "tokens"
            )
        for text, id in self.special.items():
            if id is not None and id < max(self.sizes):
                raise ArgumentError(
                    f"{keyword('special_tokens')}: the id {id} of {text!r} is the id of an entry: use ids from "
                    f"{max(self.sizes)} on"
                )

    @property
    def _special_count(self) -> int:
        """The number of special tokens that are counted in ``vocab_size``."""
        return sum(id is None for id in self.special.values())

    def learn(self, counts: Counts, progress: ProgressFunction | None, verbose: PrintFunction | None) -> LearnedMerges:
        """Learns the merges for the largest size. Raises `ArgumentError` if the texts have too few pairs."""
        size = max(self.sizes) - self._special_count
        below_length = None if self.max_token_length is None else self.max_token_length + 1
        learning_options = LearningOptions(size, self.min_frequency, below_length, self.first_seen, counts.room)
        learned_merges = learn(counts.counter(), SymbolOptions("bytes"), _BYTES, learning_options, progress, verbose)
        if len(learned_merges) < size:
            max_size = len(learned_merges) + self._special_count
            raise ArgumentError(
                f"the texts allow {len(learned_merges.merges)} merges, not {size - len(_BYTES)}: choose a "
                f"{keyword('vocab_size')} "
                f"from {len(_BYTES) + self._special_count} to {max_size}, or give more text"
            )
        return learned_merges

    def specs(self, learned_merges: LearnedMerges, split: tuple[SplitStep, ...]) -> list[Spec]:
        """Returns the Spec of each size."""
        return [self._spec(learned_merges.truncate(size - self._special_count), split) for size in self.sizes]

    def _spec(self, learned_merges: LearnedMerges, split: tuple[SplitStep, ...]) -> Spec:
        free_ids = iter(range(len(learned_merges), len(learned_merges) + self._special_count))
        special = tuple(SpecialToken(text, next(free_ids) if id is None else id) for text, id in self.special.items())
        return Spec(
            vocab=learned_merges.vocab(),
            model=Bpe("merges", merges=learned_merges.merges),
            special=special,
            matching="listed" if self.first_seen else "longest",
            split=split,
            origin=Origin("minbpe" if self.first_seen else "trained"),
        )
